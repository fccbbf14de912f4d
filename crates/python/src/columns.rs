//! Columns of a trace between `NumPy` and the engine.

#![allow(unsafe_code)]

use std::sync::Mutex;

use numpy::{
    Element, IntoPyArray, PyArray1, PyArrayMethods, PyReadonlyArray1, PyUntypedArray,
    PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use writeamp_engine as engine;
use writeamp_engine::workloads::{Column, Values};

/// An array that nobody else can reach. Nothing can write to it, move it or resize it.
#[pyclass(frozen, module = "writeamp._engine")]
struct Kept(Py<PyUntypedArray>);

/// Returns a read-only view of an array, which may be lent to the engine.
///
/// The caller, which made the array, forgets it. As its base is no array and gives no buffer,
/// `NumPy` never lets anyone set `flags.writeable` of the view again; of an array that owns its
/// memory its owner may.
#[pyfunction]
pub fn kept<'py>(array: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    fn view<'py, T: Element>(array: &Bound<'py, PyArray1<T>>) -> PyResult<Bound<'py, PyAny>> {
        let keeper = Bound::new(array.py(), Kept(array.as_untyped().clone().unbind()))?;
        let values = array.readonly();
        // SAFETY: the keeper is the base of the view and keeps the memory, which is not moved as
        // nobody else has the array.
        let view = unsafe { PyArray1::borrow_from_array(&values.as_array(), keeper.into_any()) };
        view.getattr("flags")?.setattr("writeable", false)?;
        Ok(view.into_any())
    }
    if let Ok(bytes) = array.cast::<PyArray1<u8>>() {
        return view(bytes);
    }
    match array.cast::<PyArray1<u64>>() {
        Ok(wide) => view(wide),
        Err(_) => view(array.cast::<PyArray1<u32>>()?),
    }
}

/// The values of a kept array.
struct Lent<T> {
    first: *const T,
    length: usize,
    _keeper: Py<Kept>,
}

// SAFETY: the values are plain numbers in the memory of an array that lives as long as its keeper.
// They are only ever read, here and through views that stay read-only (see `kept`).
unsafe impl<T: Sync> Send for Lent<T> {}
// SAFETY: as for `Send`.
unsafe impl<T: Sync> Sync for Lent<T> {}

impl<T: Element + Copy> Lent<T> {
    /// Returns the values under a view of a kept array; none for any other array.
    fn of(array: &Bound<'_, PyArray1<T>>) -> PyResult<Option<Self>> {
        let base = array.getattr("base")?;
        let Ok(keeper) = base.cast::<Kept>() else { return Ok(None) };
        let Ok(whole) = keeper.get().0.bind(array.py()).cast::<PyArray1<T>>() else {
            return Ok(None);
        };
        let values = whole.readonly();
        let values = values.as_slice()?;
        let is_all = array.data().cast_const() == values.as_ptr() && array.len() == values.len();
        Ok((is_all && array.is_contiguous()).then(|| Lent {
            first: values.as_ptr(),
            length: values.len(),
            _keeper: keeper.clone().unbind(),
        }))
    }
}

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

/// The array as a column: lent if it is a kept one, copied otherwise.
pub fn column<T, U>(array: &Bound<'_, PyArray1<T>>) -> PyResult<Column<U>>
where
    T: Element + Copy + Sync + 'static,
    U: From<T> + Copy + PartialEq + Send + Sync,
{
    if let Some(lent) = Lent::of(array)? {
        return Ok(Column::Each(Box::new(lent)));
    }
    let values = array.readonly();
    Ok(Column::own(values.as_slice()?.iter().map(|&value| value.into()).collect()))
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

    /// Counts the members before each page.
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
