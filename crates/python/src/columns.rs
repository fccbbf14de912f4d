//! Columns of a trace between `NumPy` and the engine.

use std::sync::Mutex;

use numpy::{Element, IntoPyArray, PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use writeamp_engine as engine;
use writeamp_engine::workloads::{Column, Values};

/// Values of an array that owns them and that nobody may write to any more.
struct Lent<T> {
    first: *const T,
    length: usize,
    _array: Py<PyArray1<T>>,
}

// SAFETY: the values are plain numbers in the memory of the array, which lives as long as this does.
// They are only ever read, and NumPy lets nobody change or move them: the array is read-only, owns
// its memory, and cannot be resized while it is referenced from here.
unsafe impl<T: Sync> Send for Lent<T> {}
// SAFETY: as for `Send`.
unsafe impl<T: Sync> Sync for Lent<T> {}

impl<T: Copy + Sync, U: From<T>> Values<U> for Lent<T> {
    #[inline(always)]
    fn get(&self, at: usize) -> U {
        // SAFETY: `first` and `length` are those of a contiguous slice of the array.
        let values = unsafe { std::slice::from_raw_parts(self.first, self.length) };
        values[at].into()
    }

    fn count(&self) -> usize {
        self.length
    }
}

/// The array as a column: lent if nobody can write to it, copied otherwise.
pub fn column<T, U>(array: &Bound<'_, PyArray1<T>>) -> PyResult<Column<U>>
where
    T: Element + Copy + Sync + 'static,
    U: From<T> + Copy + PartialEq + Send + Sync,
{
    let flags = array.getattr("flags")?;
    let is_kept = !flags.getattr("writeable")?.extract::<bool>()?
        && flags.getattr("owndata")?.extract::<bool>()?;
    let values = array.readonly();
    let values = values.as_slice()?;
    if !is_kept {
        return Ok(Column::own(values.iter().map(|&value| value.into()).collect()));
    }
    let (first, length) = (values.as_ptr(), values.len());
    Ok(Column::Each(Box::new(Lent { first, length, _array: array.clone().unbind() })))
}

/// The column, or one that is the same for all requests.
pub fn column_or<T>(array: Option<&Bound<'_, PyArray1<T>>>, all: T) -> PyResult<Column<T>>
where
    T: Element + Copy + PartialEq + Send + Sync,
{
    array.map_or(Ok(Column::All(all)), column)
}

/// Numbers of pages, which may be bytes where all of them fit.
pub fn counts(array: Option<&Bound<'_, PyAny>>) -> PyResult<Column<u32>> {
    let Some(array) = array else { return Ok(Column::All(1)) };
    match array.cast::<PyArray1<u8>>() {
        Ok(narrow) => column(narrow),
        Err(_) => column(array.cast::<PyArray1<u32>>()?),
    }
}

/// A set of pages anywhere in 64 bits.
#[pyclass(frozen, module = "writeamp._engine")]
pub struct PageSet(Mutex<engine::page_set::PageSet>);

#[pymethods]
impl PageSet {
    #[new]
    fn new() -> Self {
        PageSet(Mutex::default())
    }

    /// Adds `counts[i]` pages from `firsts[i]` on.
    fn insert(
        &self,
        firsts: PyReadonlyArray1<'_, u64>,
        counts: PyReadonlyArray1<'_, u32>,
    ) -> PyResult<()> {
        let mut set = self.0.lock().expect("nothing here panics");
        for (&first, &count) in firsts.as_slice()?.iter().zip(counts.as_slice()?) {
            set.insert(first, count);
        }
        Ok(())
    }

    /// Counts the pages, and from then on knows their ranks.
    fn rank_all(&self) -> u64 {
        self.0.lock().expect("nothing here panics").rank_all()
    }

    /// How many members come before each page.
    fn ranks<'py>(
        &self,
        py: Python<'py>,
        pages: PyReadonlyArray1<'_, u64>,
    ) -> PyResult<Bound<'py, PyArray1<u64>>> {
        let set = self.0.lock().expect("nothing here panics");
        let ranks: Vec<u64> = pages.as_slice()?.iter().map(|&page| set.rank(page)).collect();
        Ok(ranks.into_pyarray(py))
    }
}
