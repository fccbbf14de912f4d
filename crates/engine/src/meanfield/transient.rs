//! Transient: the path of a drive to its fixed point, by the ODE of paper 4 (eq. 1).
//! Time is in host writes.

use super::choices::Occupancy;
use super::dense::{Lu, add_scaled};
use super::drift::Drift;
use super::jacobian::{Linearised, flat};
use super::model::{Model, PerKind};
use crate::error::{Error, Result};

/// Parameter γ of the Rosenbrock method.
/// With this value the method is stable, and of second order even with an inexact Jacobian.
const GAMMA: f64 = 1.0 - std::f64::consts::FRAC_1_SQRT_2;

const FIRST_STEP_DRIVE_WRITES: f64 = 1e-6;
const MAX_STEPS: usize = 1_000_000;

/// Tolerance for the sums of shares and pages of an initial state.
const SLACK: f64 = 1e-6;

/// Trajectory of a drive at the requested times.
#[derive(Debug, Clone)]
pub struct Trajectory {
    /// WA at each requested time, of the writes at that moment only.
    pub wa: Vec<f64>,
    /// WA over all host writes from the start of the trajectory to each requested time.
    pub mean_wa: Vec<f64>,
    /// Share of the blocks that are hot, at each requested time.
    pub hot_blocks: Vec<f64>,
    /// Shares of blocks by kind and number of valid pages, at the last requested time.
    pub blocks: Occupancy,
}

/// Drive after one sequential write of all pages, which consists of full and of empty blocks.
/// In both, the share of hot blocks equals the share of hot data.
pub fn filled_once(model: &Model) -> Occupancy {
    let pages = model.pages_per_block();
    let spare = model.spare_factor();
    model.data().map(|data| {
        let mut blocks = vec![0.0; pages + 1];
        blocks[0] = data * spare;
        blocks[pages] = data * (1.0 - spare);
        blocks
    })
}

/// Follows a drive from `start` through `times`, in ascending host writes per logical page.
/// The error of the shares of blocks is about `tolerance`.
pub fn follow(
    model: &Model,
    start: &Occupancy,
    times: &[f64],
    tolerance: f64,
) -> Result<Trajectory> {
    check(model, start, times, tolerance)?;
    let mut here = State::new(model, flat(start));
    let mut step = FIRST_STEP_DRIVE_WRITES;
    let mut time = 0.0;
    let mut programs = 0.0;
    let mut trajectory = Trajectory {
        wa: Vec::with_capacity(times.len()),
        mean_wa: Vec::with_capacity(times.len()),
        hot_blocks: Vec::with_capacity(times.len()),
        blocks: start.clone(),
    };
    let mut steps_left = MAX_STEPS;
    for &end in times {
        while time < end {
            steps_left = steps_left.checked_sub(1).ok_or_else(|| stuck(time))?;
            let width = step.min(end - time);
            let (next, error) = here.advanced(model, width).ok_or_else(|| stuck(time))?;
            let ratio = error / tolerance;
            if ratio <= 1.0 {
                programs += 0.5 * width * (here.drift.wa + next.drift.wa);
                time = if width < end - time { time + width } else { end };
                here = next;
            }
            // If the step was shortened to end at a requested time, the next step may have the full
            // length again.
            let advised = width * (0.9 / ratio.sqrt()).clamp(0.2, 4.0);
            step = if ratio <= 1.0 { step.max(advised) } else { advised };
        }
        trajectory.wa.push(here.drift.wa);
        trajectory.mean_wa.push(if time > 0.0 { programs / time } else { here.drift.wa });
        trajectory.hot_blocks.push(here.blocks.hot.iter().sum());
    }
    trajectory.blocks = here.blocks;
    Ok(trajectory)
}

fn check(model: &Model, start: &Occupancy, times: &[f64], tolerance: f64) -> Result<()> {
    let wrong = |sentence: String| Err(Error::Spec(sentence));
    if !(tolerance > 0.0 && tolerance < 1.0) {
        return wrong(format!(
            "tolerance is {tolerance}; it must lie between 0 and 1, both excluded"
        ));
    }
    let ascending = times.windows(2).all(|pair| pair[0] <= pair[1]);
    if !(ascending && times.iter().all(|time| time.is_finite() && *time >= 0.0)) {
        return wrong("drive_writes must be finite, not negative, and ascending".to_owned());
    }
    let levels = model.pages_per_block() + 1;
    for (name, blocks, pages) in [
        ("m_hot", &start.hot, model.valid_pages().hot),
        ("m_cold", &start.cold, model.valid_pages().cold),
    ] {
        if blocks.len() != levels {
            return wrong(format!(
                "{name} has {} elements; it must have pages_per_block + 1 = {levels}",
                blocks.len()
            ));
        }
        if !blocks.iter().all(|share| *share >= 0.0 && share.is_finite()) {
            return wrong(format!("{name} must hold finite shares that are not negative"));
        }
        let actual_pages: f64 = blocks.iter().enumerate().map(|(i, share)| i as f64 * share).sum();
        if (actual_pages - pages).abs() > SLACK * pages {
            return wrong(format!(
                "{name} holds {actual_pages} valid pages per block of the drive; by its data it must \
                 hold {pages}"
            ));
        }
    }
    let total: f64 = flat(start).iter().sum();
    if (total - 1.0).abs() > SLACK {
        return wrong(format!("m_hot and m_cold add up to {total}; their sum must be 1"));
    }
    Ok(())
}

fn stuck(time: f64) -> Error {
    Error::Spec(format!(
        "the integration made no progress after {time} drive writes; try a larger tolerance"
    ))
}

/// Blocks at one time, with their drift.
struct State {
    shares: Vec<f64>,
    blocks: Occupancy,
    drift: Drift,
    /// Observations per block in which the host writes each logical page once.
    pace: f64,
}

impl State {
    fn new(model: &Model, shares: Vec<f64>) -> Self {
        let (hot, cold) = shares.split_at(shares.len() / 2);
        // At levels without blocks the method may give slightly negative shares, so they are set to
        // 0.
        let blocks =
            PerKind { hot, cold }.map(|kind| kind.iter().map(|share| share.max(0.0)).collect());
        let drift = Drift::new(model, &blocks);
        let pace = model.valid_pages().sum() / drift.writes;
        State { shares, blocks, drift, pace }
    }

    fn change(&self) -> Vec<f64> {
        flat(&self.drift.change).iter().map(|change| self.pace * change).collect()
    }

    /// One step of the two-stage Rosenbrock method ROS2 (Verwer et al. 1999), with its error.
    fn advanced(&self, model: &Model, width: f64) -> Option<(State, f64)> {
        let factors = self.implicit_part(model, width)?;
        let first = factors.solve(&self.change());
        let mut between = self.shares.clone();
        add_scaled(&mut between, width, &first);
        let mut right = State::new(model, between).change();
        add_scaled(&mut right, -2.0, &first);
        let second = factors.solve(&right);
        let mut shares = self.shares.clone();
        add_scaled(&mut shares, 1.5 * width, &first);
        add_scaled(&mut shares, 0.5 * width, &second);
        let error: f64 = first.iter().zip(&second).map(|(f, s)| 0.5 * width * (f + s).abs()).sum();
        error.is_finite().then(|| (State::new(model, shares), error))
    }

    /// Factors the matrix 1 − γ·h·∂F/∂m, which each stage of a step of length h solves.
    fn implicit_part(&self, model: &Model, width: f64) -> Option<Lu> {
        let mut matrix = Linearised::new(model, &self.blocks, &self.drift).drift;
        for index in 0..matrix.size() {
            let row = matrix.row_mut(index);
            for entry in row.iter_mut() {
                *entry *= -GAMMA * width * self.pace;
            }
            row[index] += 1.0;
        }
        Lu::new(matrix)
    }
}
