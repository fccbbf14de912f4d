//! Scaling of a spec to a smaller drive that is simulated in place of the full drive.

use std::ops::Bound::Included;

use super::values::{bytes, number_or_per_cent, whole};
use super::{Domain, Extent, Param, Params};
use crate::error::{Error, Result};
use crate::spec::split;

/// Relative rounding error of a scaled number of blocks above which a note informs the user.
const MATERIAL_ROUNDING: f64 = 0.1;

impl Params {
    /// Scales the spec to a drive that has 1/`factor` of the pages.
    /// The result is in canonical form.
    pub fn scaled(&self, factor: f64) -> Result<String> {
        self.scaled_with(factor, 1.0)
    }

    /// Scales the spec to a drive that has 1/`factor` of the pages, and erase units with
    /// 1/`unit_factor` of the pages.
    /// The result is in canonical form.
    pub fn scaled_with(&self, factor: f64, unit_factor: f64) -> Result<String> {
        let mut params = Vec::new();
        for param in self.entry.all_params() {
            let text = self.text(param.name);
            if let (Extent::Place(why), false) = (param.extent, param.is_default(text)) {
                return Err(Error::Spec(format!(
                    "{}: {}={text} cannot be scaled to a smaller drive, because {why}; give the \
                     simulated size instead of a capacity",
                    self.entry.name, param.name
                )));
            }
            let value = self.scaled_text(param, &param.domain, text, (factor, unit_factor))?;
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
        factors: (f64, f64),
    ) -> Result<String> {
        let (factor, unit_factor) = factors;
        match (domain, param.extent) {
            (Domain::Spec(specs), _) => {
                specs().read_nested(text, 0)?.scaled_with(factor, unit_factor)
            }
            (Domain::List(of), _) => {
                let items =
                    split(text, '/').expect("the text was checked to be a list").into_iter();
                let scaled = items.map(|item| self.scaled_text(param, of, item, factors));
                Ok(scaled.collect::<Result<Vec<_>>>()?.join("/"))
            }
            (Domain::Either(first, second), _) => {
                let domain = if first.check(text, 0).is_ok() { first } else { second };
                self.scaled_text(param, domain, text, factors)
            }
            (Domain::Whole(..), Extent::Writes) => {
                let writes = (whole::<u64>(text) as f64 / factor).round() as u64;
                if writes == 0 {
                    return Err(Error::Spec(format!(
                        "{}: {}={text} is less than one write of the simulated drive, which is \
                         {factor:.4} times smaller; give the simulated size instead of a capacity",
                        self.entry.name, param.name
                    )));
                }
                Ok(writes.to_string())
            }
            (Domain::Whole(least, _), Extent::Blocks) => {
                Ok(blocks_on_smaller(text, *least, factor).to_string())
            }
            (Domain::Bytes(least, _), Extent::Bytes | Extent::EraseUnits) => {
                let is_of_drive = param.extent == Extent::Bytes;
                let divisor = if is_of_drive { factor } else { unit_factor };
                let size = bytes(text).expect("the domain was checked, so the text is a size");
                let scaled = (size as f64 / divisor).round() as u64;
                Ok(scaled.max(*least).to_string())
            }
            (Domain::Number(_, most), Extent::PerPage) => {
                let value = number_or_per_cent(text)
                    .expect("the domain was checked, so the text is a number")
                    * factor;
                if let Included(most) = *most
                    && value > most
                {
                    return Err(Error::Spec(format!(
                        "{}: the full drive is {factor:.4} times larger than the simulated one, \
                         but at most {} times is supported; give a smaller capacity, or the \
                         simulated size",
                        self.entry.name,
                        most * factor / value,
                    )));
                }
                Ok(value.to_string())
            }
            _ => Ok(domain.canonical(text)),
        }
    }

    /// Sentences on parameters that cannot keep their proportion to the drive when
    /// [`Self::scaled`] is applied.
    pub fn not_scaled(&self, factor: f64) -> Vec<String> {
        let mut sentences = Vec::new();
        for param in self.entry.all_params() {
            self.note_not_scaled(
                param,
                &param.domain,
                self.text(param.name),
                factor,
                &mut sentences,
            );
        }
        sentences
    }

    fn note_not_scaled(
        &self,
        param: &Param,
        domain: &Domain,
        text: &str,
        factor: f64,
        sentences: &mut Vec<String>,
    ) {
        let setting = format!("{}: {}={text}", self.entry.name, param.name);
        match (domain, param.extent) {
            (Domain::Spec(specs), _) => {
                let nested = specs().read_nested(text, 0);
                sentences.extend(nested.map_or_else(|_| Vec::new(), |of| of.not_scaled(factor)));
            }
            (Domain::Either(first, second), _) => {
                let domain = if first.check(text, 0).is_ok() { first } else { second };
                self.note_not_scaled(param, domain, text, factor, sentences);
            }
            (Domain::Whole(least, _), Extent::Blocks) => {
                let (full_blocks, scaled_blocks) =
                    (whole::<u64>(text) as f64, blocks_on_smaller(text, *least, factor));
                // A value that is the minimum of its domain stays the same on every drive, so it is
                // not reported.
                let is_material =
                    (scaled_blocks as f64 * factor / full_blocks - 1.0).abs() > MATERIAL_ROUNDING;
                if is_material && whole::<u64>(text) > *least {
                    sentences.push(format!(
                        "{setting} would be {:.4} block(s) on the simulated drive, and is rounded \
                         to {scaled_blocks}",
                        full_blocks / factor
                    ));
                }
            }
            (_, Extent::Kept(why)) => {
                sentences
                    .push(format!("{setting} is not scaled to the simulated drive, because {why}"));
            }
            _ => {}
        }
    }
}

/// Number of blocks with the same share of the smaller drive, but at least `least`.
fn blocks_on_smaller(text: &str, least: u64, factor: f64) -> u64 {
    ((whole::<u64>(text) as f64 / factor).round() as u64).max(least)
}
