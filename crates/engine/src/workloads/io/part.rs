//! Requests as a part of a whole workload, beside parts that write pages.

use super::characteristics::SEQUENTIAL;
use super::{Characteristics, IO, RANDOM};
use crate::error::{Error, Result};
use crate::params::{Params, Specs};
use crate::spec::Spec;
use crate::workloads::WORKLOADS;

/// Specs of parts: a workload that may stand in another, or requests in a whole one.
#[derive(Debug)]
pub struct NestedOrRequests;

impl Specs for NestedOrRequests {
    fn name(&self) -> &'static str {
        WORKLOADS.name
    }

    fn noun(&self) -> &'static str {
        WORKLOADS.noun
    }

    fn plural(&self) -> &'static str {
        WORKLOADS.plural
    }

    fn read_nested(&self, text: &str, depth: usize) -> Result<Params> {
        // Only a whole workload hands over requests of its parts.
        let is_in_whole = depth <= 1;
        let name = Spec::parse(WORKLOADS.noun, text)?.name;
        if is_in_whole && [IO.name, RANDOM.name, SEQUENTIAL].contains(&name.as_str()) {
            let params = WORKLOADS.read_nested(text, 0)?;
            if let Some(requests) = Characteristics::of(&params)? {
                check(&name, &requests)?;
                return Ok(params);
            }
        }
        WORKLOADS.read_nested(text, depth)
    }
}

fn check(name: &str, requests: &Characteristics) -> Result<()> {
    if requests.is_timed() {
        return Err(Error::Spec(format!(
            "{name}: qd= and rate= are for a whole workload; its parts come one request at a time"
        )));
    }
    if requests.write == 0.0 {
        return Err(Error::Spec(format!(
            "{name}: write=0 never ends a part, whose length is counted in page writes; give a share \
             above 0"
        )));
    }
    Ok(())
}
