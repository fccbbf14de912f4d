//! Mean field of hot/cold write frontiers.

use engine::meanfield::{Conditioning, Drift, Model, Occupancy, PerKind, solve, transient};
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use writeamp_engine as engine;

use super::interruptible::interruptible;
use crate::raised::raised;

/// A drive of many blocks with hot/cold write frontiers; with `d_swap` it swaps blocks.
#[pyclass(frozen, module = "writeamp._engine")]
pub struct MeanField(Model);

type Arrays<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

fn arrays(py: Python<'_>, blocks: Occupancy) -> Arrays<'_> {
    (PyArray1::from_vec(py, blocks.hot), PyArray1::from_vec(py, blocks.cold))
}

#[pymethods]
impl MeanField {
    #[new]
    #[pyo3(signature = (*, pages_per_block, spare_factor, d, d_swap, hot_fraction,
                        hot_write_fraction))]
    fn new(
        pages_per_block: u32,
        spare_factor: f64,
        d: u32,
        d_swap: Option<u32>,
        hot_fraction: f64,
        hot_write_fraction: f64,
    ) -> PyResult<Self> {
        Model::new(pages_per_block, spare_factor, d, d_swap, hot_fraction, hot_write_fraction)
            .map(MeanField)
            .map_err(|e| raised(&e))
    }

    /// Fixed point: shares of blocks by kind (hot, cold) and number of valid pages.
    fn fixed_point<'py>(&self, py: Python<'py>) -> PyResult<Arrays<'py>> {
        let model = self.0;
        let blocks = interruptible(py, move || solve(&model))?.map_err(|e| raised(&e))?;
        Ok(arrays(py, blocks))
    }

    /// The blocks after one sequential pass of writes.
    fn filled_once<'py>(&self, py: Python<'py>) -> Arrays<'py> {
        arrays(py, transient::filled_once(&self.0))
    }

    /// Evaluates the drift and its derivatives at a state of the blocks.
    fn check<'py>(
        &self,
        py: Python<'py>,
        m_hot: PyReadonlyArray1<'_, f64>,
        m_cold: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let blocks = PerKind { hot: m_hot.to_vec()?, cold: m_cold.to_vec()? };
        let model = self.0;
        let (drift, conditioning) = interruptible(py, move || {
            let drift = Drift::new(&model, &blocks);
            let conditioning = Conditioning::new(&model, &blocks, &drift);
            (drift, conditioning)
        })?;
        let dict = PyDict::new(py);
        dict.set_item("wa", drift.wa)?;
        dict.set_item("residual", drift.residual())?;
        dict.set_item("wa_error_bound", conditioning.wa_error_bound)?;
        dict.set_item("relaxation_drive_writes", conditioning.relaxation_drive_writes)?;
        dict.set_item("wa_spread", conditioning.wa_spread)?;
        dict.set_item("share_gc_d", drift.share_of_d())?;
        dict.set_item("share_gc_swap_hot", drift.share_of_d() * drift.rates.swaps.hot)?;
        dict.set_item("share_gc_swap_cold", drift.share_of_d() * drift.rates.swaps.cold)?;
        let p = drift.victims.of_all.hot.iter().zip(&drift.victims.of_all.cold);
        dict.set_item("p", PyArray1::from_iter(py, p.map(|(hot, cold)| hot + cold)))?;
        dict.set_item("q_hot", PyArray1::from_vec(py, drift.victims.of_kind.hot))?;
        dict.set_item("q_cold", PyArray1::from_vec(py, drift.victims.of_kind.cold))?;
        Ok(dict)
    }

    /// Transient from given blocks, at ascending times in host writes per logical page.
    #[pyo3(signature = (*, m_hot, m_cold, drive_writes, tolerance))]
    fn transient<'py>(
        &self,
        py: Python<'py>,
        m_hot: PyReadonlyArray1<'_, f64>,
        m_cold: PyReadonlyArray1<'_, f64>,
        drive_writes: PyReadonlyArray1<'_, f64>,
        tolerance: f64,
    ) -> PyResult<Bound<'py, PyDict>> {
        let start = PerKind { hot: m_hot.to_vec()?, cold: m_cold.to_vec()? };
        let times = drive_writes.to_vec()?;
        let model = self.0;
        let transient =
            interruptible(py, move || transient::follow(&model, &start, &times, tolerance))?
                .map_err(|e| raised(&e))?;
        let (hot, cold) = arrays(py, transient.blocks);
        let dict = PyDict::new(py);
        dict.set_item("wa", PyArray1::from_vec(py, transient.wa))?;
        dict.set_item("mean_wa", PyArray1::from_vec(py, transient.mean_wa))?;
        dict.set_item("hot_block_share", PyArray1::from_vec(py, transient.hot_blocks))?;
        dict.set_item("m_hot", hot)?;
        dict.set_item("m_cold", cold)?;
        Ok(dict)
    }
}
