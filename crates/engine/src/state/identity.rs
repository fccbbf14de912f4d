//! Identity of a drive: its settings as text. A state is restored only into an identical
//! drive.

use super::{Reader, State, Writer};
use crate::error::{Error, Result};

/// Pairs of a setting's name and value, as they were at construction.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Identity(Vec<(&'static str, String)>);

impl Identity {
    /// Adds a setting, as a pair of name and value.
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

    /// Compares with the saved identity. The error names the first difference.
    fn restore(&mut self, from: &mut Reader) -> Result<()> {
        let saved: Vec<(String, String)> = from.value("its identity")?;
        let mut pairs = self.0.iter().zip(&saved);
        let difference = pairs.find(|(own, of)| (own.0, &own.1) != (&*of.0, &of.1));
        let why = match difference {
            Some((own, of)) if own.0 == of.0 => {
                format!("its {} is {}, but here it is {}", own.0, of.1, own.1)
            }
            None if saved.len() == self.0.len() => return Ok(()),
            _ => "it was built from other settings".to_owned(),
        };
        Err(Error::State(format!("the state is of another drive or workload: {why}")))
    }
}
