//! Identity of a drive: what it was built from, in words. A state is restored into no other.

use super::{Reader, State, Writer};
use crate::error::{Error, Result};

/// Pairs of a name and a value, as they stood when it was built.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Identity(Vec<(&'static str, String)>);

impl Identity {
    /// Adds what decides one thing.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.0.push((name, value.into()));
        self
    }
}

impl State for Identity {
    fn save(&self, to: &mut Writer) {
        to.value(&self.0);
    }

    /// Changes nothing; refuses a state by the first thing in which it differs.
    fn restore(&mut self, from: &mut Reader) -> Result<()> {
        let found: Vec<(String, String)> = from.value("what it is a state of")?;
        let mut pairs = self.0.iter().zip(&found);
        let difference = pairs.find(|(own, of)| (own.0, &own.1) != (&*of.0, &of.1));
        let why = match difference {
            Some((own, of)) if own.0 == of.0 => {
                format!("its {} is {}, and here it is {}", own.0, of.1, own.1)
            }
            None if found.len() == self.0.len() => return Ok(()),
            _ => "it was built from other things".to_owned(),
        };
        Err(Error::State(format!("the state is of another drive or workload: {why}")))
    }
}
