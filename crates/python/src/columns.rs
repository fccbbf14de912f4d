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

/// Python object that owns the memory of an array, so that no other code can write, move or
/// resize it.
#[pyclass(frozen, module = "writeamp._engine")]
struct Owner(Py<PyUntypedArray>);

/// Returns a read-only view of an array, which the engine can use without a copy.
///
/// The caller must drop the array. The base of the view is not an array and has no buffer, so
/// `NumPy` does not allow `flags.writeable` to be set again.
#[pyfunction]
pub fn kept<'py>(array: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    fn view<'py, T: Element>(array: &Bound<'py, PyArray1<T>>) -> PyResult<Bound<'py, PyAny>> {
        let keeper = Bound::new(array.py(), Owner(array.as_untyped().clone().unbind()))?;
        let values = array.readonly();
        // SAFETY: the keeper is the base of the view and owns the memory, which is not moved, as
        // the array has no other users.
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

/// Values of a read-only array.
struct Lent<T> {
    first: *const T,
    length: usize,
    _keeper: Py<Owner>,
}

// SAFETY: the values are plain numbers in the memory of an array that lives as long as its keeper.
// They are only read, here and through read-only views.
unsafe impl<T: Sync> Send for Lent<T> {}
// SAFETY: as for `Send`.
unsafe impl<T: Sync> Sync for Lent<T> {}

impl<T: Element + Copy> Lent<T> {
    /// Returns the values of a view of a read-only array; None for other arrays.
    fn of(array: &Bound<'_, PyArray1<T>>) -> PyResult<Option<Self>> {
        let base = array.getattr("base")?;
        let Ok(keeper) = base.cast::<Owner>() else { return Ok(None) };
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

impl<T> Lent<T> {
    #[inline(always)]
    fn values(&self) -> &[T] {
        // SAFETY: `first` and `length` are those of a contiguous slice of the array.
        unsafe { std::slice::from_raw_parts(self.first, self.length) }
    }
}

impl<T: Copy + Sync, U: From<T>> Values<U> for Lent<T> {
    #[inline(always)]
    fn get(&self, at: usize) -> U {
        self.values()[at].into()
    }

    fn copy(&self, first: usize, to: &mut [U]) {
        let values = &self.values()[first..first + to.len()];
        to.iter_mut().zip(values).for_each(|(to, value)| *to = (*value).into());
    }

    fn count(&self) -> usize {
        self.length
    }
}

/// Converts an array to a column: shared if it is read-only, copied otherwise.
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

/// Converts an array to a column, or makes a constant column.
pub fn column_or<T>(array: Option<&Bound<'_, PyArray1<T>>>, all: T) -> PyResult<Column<T>>
where
    T: Element + Copy + PartialEq + Send + Sync,
{
    array.map_or(Ok(Column::All(all)), column)
}

/// Converts page counts, from an array of `u32` or `u8`.
pub fn counts(array: Option<&Bound<'_, PyAny>>) -> PyResult<Column<u32>> {
    let Some(array) = array else { return Ok(Column::All(1)) };
    match array.cast::<PyArray1<u8>>() {
        Ok(narrow) => column(narrow),
        Err(_) => column(array.cast::<PyArray1<u32>>()?),
    }
}

/// Set of page numbers, each of up to 64 bits.
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
        let mut set = self.0.lock().expect("no thread panicked while it held this lock");
        for (&first, &count) in firsts.as_slice()?.iter().zip(counts.as_slice()?) {
            set.insert(first, count);
        }
        Ok(())
    }

    /// Computes the ranks of all pages in the set; returns the number of pages.
    ///
    /// The ranks are valid until pages are inserted.
    fn rank_all(&self) -> u64 {
        self.0.lock().expect("no thread panicked while it held this lock").rank_all()
    }

    /// Returns the rank of each page: the number of pages in the set with a lower number.
    fn ranks<'py>(
        &self,
        py: Python<'py>,
        pages: PyReadonlyArray1<'_, u64>,
    ) -> PyResult<Bound<'py, PyArray1<u64>>> {
        let set = self.0.lock().expect("no thread panicked while it held this lock");
        let ranks: Vec<u64> = pages.as_slice()?.iter().map(|&page| set.rank(page)).collect();
        Ok(ranks.into_pyarray(py))
    }
}
