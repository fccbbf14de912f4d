//! Scaling of a spec to a smaller drive that stands for the one that is meant.

use std::ops::Bound::Included;

use super::values::{number_or_per_cent, whole};
use super::{Domain, Extent, Param, Params};
use crate::error::{Error, Result};
use crate::spec::split;

/// Change of a share of the drive, by whole blocks, of which a reader should hear.
const MATERIAL_ROUNDING: f64 = 0.1;

impl Params {
    /// Spec that means on a smaller drive what this one means on the drive itself.
    /// The smaller drive has so many times fewer pages. The spec has the form that all spellings
    /// share.
    pub fn scaled(&self, factor: f64) -> Result<String> {
        let mut params = Vec::new();
        for param in self.entry.all_params() {
            let text = self.text(param.name);
            if let (Extent::Place(why), false) = (param.extent, param.is_default(text)) {
                return Err(Error::Spec(format!(
                    "{}: {}={text} cannot be scaled to a smaller drive, as {why}; give the size that \
                     is to be simulated instead of a capacity",
                    self.entry.name, param.name
                )));
            }
            let value = self.scaled_text(param, &param.domain, text, factor)?;
            if !(param.is_default(&value) && (param.is_later || self.entry.is_common(param))) {
                params.push(format!("{}={value}", param.name));
            }
        }
        if params.is_empty() {
            return Ok(self.entry.name.to_owned());
        }
        Ok(format!("{}({})", self.entry.name, params.join(",")))
    }

    fn scaled_text(
        &self,
        param: &Param,
        domain: &Domain,
        text: &str,
        factor: f64,
    ) -> Result<String> {
        match (domain, param.extent) {
            (Domain::Spec(specs), _) => specs().read_nested(text, 0)?.scaled(factor),
            (Domain::List(of), _) => {
                let items = split(text, '/').expect("a valid list").into_iter();
                let scaled = items.map(|item| self.scaled_text(param, of, item, factor));
                Ok(scaled.collect::<Result<Vec<_>>>()?.join("/"))
            }
            (Domain::Either(one, other), _) => {
                let domain = if one.check(text, 0).is_ok() { one } else { other };
                self.scaled_text(param, domain, text, factor)
            }
            (Domain::Whole(..), Extent::Writes) => {
                let writes = (whole::<u64>(text) as f64 / factor).round() as u64;
                if writes == 0 {
                    return Err(Error::Spec(format!(
                        "{}: {}={text} is less than one write of the drive that is simulated, which \
                         is {factor:.4} times smaller; give the size that is to be simulated instead \
                         of a capacity",
                        self.entry.name, param.name
                    )));
                }
                Ok(writes.to_string())
            }
            (Domain::Whole(least, _), Extent::Blocks) => {
                Ok(blocks_on_smaller(text, *least, factor).to_string())
            }
            (Domain::Number(_, most), Extent::PerPage) => {
                let value = number_or_per_cent(text).expect("a number by its domain") * factor;
                if let Included(most) = *most
                    && value > most
                {
                    return Err(Error::Spec(format!(
                        "{}: the drive that is meant is {factor:.4} times larger than the one that \
                         is simulated, which stands for at most {} times as large a one; give a \
                         smaller capacity, or the size that is to be simulated",
                        self.entry.name,
                        most * factor / value,
                    )));
                }
                Ok(value.to_string())
            }
            _ => Ok(domain.canonical(text)),
        }
    }

    /// Sentences on the parameters that `scaled` leaves in another proportion to the drive.
    /// The proportion is to the smaller drive, against that to the one that is meant.
    pub fn not_scaled(&self, factor: f64) -> Vec<String> {
        let mut found = Vec::new();
        for param in self.entry.all_params() {
            self.note_not_scaled(param, &param.domain, self.text(param.name), factor, &mut found);
        }
        found
    }

    fn note_not_scaled(
        &self,
        param: &Param,
        domain: &Domain,
        text: &str,
        factor: f64,
        found: &mut Vec<String>,
    ) {
        let given = format!("{}: {}={text}", self.entry.name, param.name);
        match (domain, param.extent) {
            (Domain::Spec(specs), _) => {
                let nested = specs().read_nested(text, 0);
                found.extend(nested.map_or_else(|_| Vec::new(), |of| of.not_scaled(factor)));
            }
            (Domain::Either(one, other), _) => {
                let domain = if one.check(text, 0).is_ok() { one } else { other };
                self.note_not_scaled(param, domain, text, factor, found);
            }
            (Domain::Whole(least, _), Extent::Blocks) => {
                let (meant, taken) =
                    (whole::<u64>(text) as f64, blocks_on_smaller(text, *least, factor));
                // At the least it is the same on every drive.
                let is_material = (taken as f64 * factor / meant - 1.0).abs() > MATERIAL_ROUNDING;
                if is_material && whole::<u64>(text) > *least {
                    found.push(format!(
                        "{given} would be {:.4} block(s) on the drive that is simulated, and is \
                         {taken}",
                        meant / factor
                    ));
                }
            }
            (_, Extent::Kept(why)) => {
                found.push(format!("{given} is the same on the drive that is simulated, as {why}"));
            }
            _ => {}
        }
    }
}

/// Number of blocks that is as large a share of a smaller drive, but at least `least`.
fn blocks_on_smaller(text: &str, least: u64, factor: f64) -> u64 {
    ((whole::<u64>(text) as f64 / factor).round() as u64).max(least)
}
