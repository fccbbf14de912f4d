//! Registries: named entries, and the data that each entry declares.
//!
//! A policy's file ends with its [`Registered`] implementation. One line in its module's list adds
//! it to the module's [`Registry`]. Spec parsing, static dispatch to the named type, the command
//! line, the documentation and the tests all use the entry's declaration.

use std::fmt::{self, Debug, Formatter};

use crate::error::{Error, Result};
pub use crate::params::{Entry, Pairs};
use crate::params::{Params, Specs};
use crate::spec::Spec;

/// Registry of a module: its entries, and the nouns for them.
pub struct Registry {
    /// Name, as accepted by `writeamp list`.
    pub name: &'static str,
    /// Singular noun for an entry in messages, such as "victim policy".
    pub noun: &'static str,
    /// Plural noun for entries in messages.
    pub plural: &'static str,
    /// Entries in order of registration.
    pub entries: &'static [Entry],
    /// Names that users expect, and why entries for them are missing, as the end of a sentence.
    pub absent: &'static [(&'static str, &'static str)],
}

impl Debug for Registry {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        // Only the name is printed: entries refer to registries, including this one, so a full dump
        // would not end.
        f.write_str(self.name)
    }
}

impl PartialEq for Registry {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Registry {
    /// Parses a spec and returns the entry's validated parameters.
    pub fn read(&self, text: &str) -> Result<Params> {
        self.read_nested(text, 0)
    }
}

impl Specs for Registry {
    fn name(&self) -> &'static str {
        self.name
    }

    fn noun(&self) -> &'static str {
        self.noun
    }

    fn plural(&self) -> &'static str {
        self.plural
    }

    fn read_nested(&self, text: &str, depth: usize) -> Result<Params> {
        const DEEPEST: usize = 16;
        let noun = self.noun;
        if depth > DEEPEST {
            return Err(Error::Spec(format!(
                "the {noun} is nested more than {DEEPEST} levels deep"
            )));
        }
        let Spec { name, parameters } = Spec::parse(noun, text)?;
        if let Some((_, why)) = self.absent.iter().find(|(absent, _)| *absent == name) {
            return Err(Error::Spec(format!("the {noun} {name} does not exist: {why}")));
        }
        let entry = self.entries.iter().find(|entry| entry.name == name).ok_or_else(|| {
            let names: Vec<&str> = self.entries.iter().map(|entry| entry.name).collect();
            Error::unknown(noun, &name, &names)
        })?;
        if depth > 0 && entry.is_alone {
            return Err(Error::Spec(format!(
                "{name} must be a whole {noun}; it cannot be part of another {noun}"
            )));
        }
        Params::read(noun, entry, parameters, depth)
    }
}

/// Registered type: its entry, and its constructor from parameters and a `Site`.
pub trait Registered<Site: ?Sized>: Sized {
    /// Registry entry of the type.
    const ENTRY: Entry;

    /// Builds an instance from parameters of its own entry, for a `Site` such as the drive's
    /// size.
    fn build(params: &Params, site: &Site) -> Result<Self>;
}

/// Builds the list of entries from a list of types, each of which has a constant `ENTRY`.
macro_rules! entries {
    ({$registered:path} $($entry:path),+ $(,)?) => {
        &[$(<$entry as $registered>::ENTRY),+]
    };
}
pub(crate) use entries;

/// Static dispatch: finds the type whose entry the parameters `$params` belong to, and calls
/// `$then` with that type.
macro_rules! dispatch {
    ({$registered:path, $params:expr, $type:ident => $then:expr} $($entry:path),+ $(,)?) => {{
        let name = $params.entry().name;
        $(if name == <$entry as $registered>::ENTRY.name {
            type $type = $entry;
            return $then;
        })+
        unreachable!("the parameters belong to an entry of this registry")
    }};
}
pub(crate) use dispatch;
