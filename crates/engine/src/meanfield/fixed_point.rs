//! Fixed point of the mean field: F = 0 (paper 4, §3.2), solved without Euler's method.

use super::choices::Occupancy;
use super::continuation::follow;
use super::drift::Drift;
use super::exchange::{self, Effort};
use super::jacobian::{Linearised, flat};
use super::levels::Flows;
use super::model::{Model, PerKind};
use super::totals::{Balanced, random_collection};
use crate::error::{Error, Result};

/// Residual of F below which the solution is not corrected further.
const RESIDUAL: f64 = 1e-14;
/// Largest residual of F with which a solution is accepted as a fixed point.
const ACCEPTED_RESIDUAL: f64 = 1e-9;
const MOST_CORRECTIONS: usize = 4;

/// Stationary share of blocks of each kind and number of valid pages.
pub fn solve(model: &Model) -> Result<Occupancy> {
    let blocks = match model.d_swap() {
        Some(_) if model.pages_per_block() > 1 => with_swaps(model),
        _ => alone(model),
    };
    blocks.ok_or_else(|| {
        Error::Spec(format!(
            "no fixed point of the mean field was found for {model}; use less extreme parameters"
        ))
    })
}

/// Solves a drive without swaps.
/// The frontiers are not solved, because without swaps no other quantity depends on them.
fn alone(model: &Model) -> Option<Occupancy> {
    let balanced = Balanced::new(model, without_swaps(model)?)?;
    if balanced.missing < RESIDUAL {
        return Some(balanced.levels.blocks);
    }
    corrected(model, balanced.levels.blocks)
}

/// Solves the drive without swaps by continuation from d = 1, which has a closed form.
fn without_swaps(model: &Model) -> Option<Flows> {
    let model = model.without_swaps();
    let log_d = model.d().ln();
    follow(random_collection(&model), |place, near| {
        let d = if place < 1.0 { (place * log_d).exp() } else { model.d() };
        Some(Balanced::new(&model.with_d(d), near)?.flows)
    })
}

/// Method that finds a fixed point with swaps.
type Method = fn(&Model, &Effort) -> Option<Flows>;

/// Finds a fixed point by the first method that converges.
/// Each method is tried with hot and cold as they are, and with their names exchanged. The order
/// matters: the equations are better conditioned if the data called "hot" are written less.
fn with_swaps(model: &Model) -> Option<Occupancy> {
    let effort = Effort::reasonable(model);
    let hot_is_written_more = model.writes().hot > 0.5;
    for method in [directly as Method, by_bisection, from_an_easier_drive] {
        for exchanged in [hot_is_written_more, !hot_is_written_more] {
            let oriented = if exchanged { model.with_kinds_exchanged() } else { *model };
            let solution = method(&oriented, &effort)
                .and_then(|flows| Balanced::new(&oriented, flows))
                .and_then(|balanced| corrected(&oriented, balanced.levels.blocks));
            if let Some(blocks) = solution {
                return Some(if exchanged { blocks.exchanged() } else { blocks });
            }
        }
    }
    None
}

/// Solves the problem directly. The starting point is the solution of the same drive without
/// swaps.
fn directly(model: &Model, effort: &Effort) -> Option<Flows> {
    exchange::solve(model, without_swaps(model)?, effort)
}

fn by_bisection(model: &Model, effort: &Effort) -> Option<Flows> {
    exchange::bisect(model, without_swaps(model)?, effort)
}

fn from_an_easier_drive(model: &Model, effort: &Effort) -> Option<Flows> {
    model.easier().into_iter().find_map(|easy| {
        follow(directly(&easy, effort)?, |place, near| {
            exchange::solve(&model.between(&easy, place), near, effort)
        })
    })
}

/// Corrects rounding errors by Newton's method on F itself.
/// The levels (numbers of valid pages) are solved from full blocks down, which multiplies rounding
/// errors by d for the emptiest blocks.
///
/// Returns None if the error is larger than rounding.
fn corrected(model: &Model, mut blocks: Occupancy) -> Option<Occupancy> {
    let mut drift = Drift::new(model, &blocks);
    for _ in 0..MOST_CORRECTIONS {
        if drift.residual() < RESIDUAL {
            break;
        }
        let Some(factors) = Linearised::new(model, &blocks, &drift).factored() else { break };
        let mut missing: Vec<f64> = flat(&drift.change).iter().map(|change| -change).collect();
        *missing.last_mut().expect("a block has at least one page, so this list is not empty") =
            0.0;
        let step = factors.solve(&missing);
        let (hot, cold) = step.split_at(blocks.hot.len());
        let next = blocks.as_ref().zip(PerKind { hot, cold }).map(|(kind, step)| {
            let moved = kind.iter().zip(step);
            // Tiny shares must keep their relative accuracy, so steps larger than half of a share
            // are ignored.
            moved
                .map(|(share, step)| if step.abs() < share / 2.0 { share + step } else { *share })
                .collect()
        });
        let next_drift = Drift::new(model, &next);
        if next_drift.residual() >= drift.residual() || !next_drift.residual().is_finite() {
            break;
        }
        (blocks, drift) = (next, next_drift);
    }
    (drift.residual() < ACCEPTED_RESIDUAL).then_some(blocks)
}
