//! One write frontier for everything: host writes follow the pages that collection moved
//! (paper 4, §2.1; the baseline of all five papers).

use super::generic::Placement;
use crate::error::Result;
use crate::spec::{Param, Params};

#[derive(Debug, Clone, Copy)]
pub struct Single;

impl Placement for Single {
    const NAME: &'static str = "single";
    const SUMMARY: &'static str = "one write frontier for host and relocated pages";
    const PARAMS: &'static [Param] = &[];
    const EXAMPLE: &'static str = "single";
    const STREAMS: usize = 1;
    const RELOCATION_STREAMS: usize = 1;

    fn build(_params: &Params) -> Result<Self> {
        Ok(Single)
    }

    #[inline(always)]
    fn host_stream(&mut self, _logical: u32) -> usize {
        0
    }

    #[inline(always)]
    fn relocation_stream(&mut self, _logical: u32) -> usize {
        0
    }
}
