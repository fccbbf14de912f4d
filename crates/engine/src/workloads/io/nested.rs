//! Requests as a component of a whole workload, next to components that write pages.

use super::characteristics::SEQUENTIAL;
use super::{Characteristics, IO, JESD219, RANDOM};
use crate::error::{Error, Result};
use crate::params::{Params, Specs};
use crate::spec::Spec;
use crate::workloads::WORKLOADS;

/// Specs of components: a nested workload, or requests in a whole workload.
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
        // Only a whole workload passes on the requests of its components.
        let is_in_whole = depth <= 1;
        let name = Spec::parse(WORKLOADS.noun, text)?.name;
        if is_in_whole && [IO.name, RANDOM.name, JESD219.name, SEQUENTIAL].contains(&name.as_str())
        {
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
            "{name}: qd= and rate= are only valid for a whole workload; remove them from its parts"
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
