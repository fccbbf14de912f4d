//! Division of the spare space between groups of pages.

use numpy::ndarray::Array2;
use numpy::{PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use writeamp_engine::Error;
use writeamp_engine::managers::wolf::{Allocation, Demand, Exceptions, allocate};

use crate::raised::raised;

/// Values with which no group is an exception from the rule.
const PLAIN: Exceptions = Exceptions { coldest_ratio: 0.0, coldest_op: 0.0, floor: 0.0 };

/// Computes each group's share of the spare space, one row per workload.
///
/// `sizes` and `frequencies` have the shape (workloads, groups), with rows that sum to 1; `op`
/// has (workloads,).
#[pyfunction]
#[pyo3(signature = (method, *, sizes, frequencies, op))]
pub fn divide<'py>(
    py: Python<'py>,
    method: &str,
    sizes: PyReadonlyArray2<'py, f64>,
    frequencies: PyReadonlyArray2<'py, f64>,
    op: PyReadonlyArray1<'py, f64>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let (_, allocation) =
        *Allocation::ALL.iter().find(|(name, _)| *name == method).ok_or_else(|| {
            raised(&Error::unknown("allocation", method, &Allocation::ALL.map(|(name, _)| name)))
        })?;
    let (sizes, frequencies, op) = (sizes.as_array(), frequencies.as_array(), op.as_array());
    if sizes.shape() != frequencies.shape() || sizes.nrows() != op.len() {
        return Err(pyo3::exceptions::PyValueError::new_err(
            "sizes and frequencies must have the same shape, and op one value per row of them",
        ));
    }
    let shares = py.detach(|| {
        let mut shares = Array2::zeros(sizes.raw_dim());
        let mut demands = Vec::with_capacity(sizes.ncols());
        for (row, &op) in op.iter().enumerate() {
            demands.clear();
            demands.extend(
                sizes
                    .row(row)
                    .iter()
                    .zip(frequencies.row(row))
                    .map(|(&pages, &write_share)| Demand { pages, write_share }),
            );
            let divided = allocate(allocation, PLAIN, &demands, op);
            for (share, pages) in shares.row_mut(row).iter_mut().zip(divided) {
                *share = pages / op;
            }
        }
        shares
    });
    Ok(PyArray2::from_owned_array(py, shares))
}
