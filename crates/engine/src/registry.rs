//! Registries: what can be asked for by name, and what each entry says of itself.
//!
//! A policy's file ends in its [`Registered`] implementation; one line in its room's list makes it
//! an entry of the room's own [`Registry`]. Reading a spec, static dispatch to the type that it
//! names, the command line, the documentation and the tests all go by what the entry declares.

use std::fmt::{self, Debug, Formatter};

use crate::error::{Error, Result};
pub use crate::params::{Entry, Pairs};
use crate::params::{Params, Specs};
use crate::spec::Spec;

/// The entries of a room, and what they are called.
pub struct Registry {
    /// Its name, as `writeamp list` takes it.
    pub name: &'static str,
    /// One of its entries, in a sentence.
    pub noun: &'static str,
    /// Several of its entries, in a sentence.
    pub plural: &'static str,
    /// Its entries, in order of registration.
    pub entries: &'static [Entry],
}

impl Debug for Registry {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        // Entries name registries, and this one among them.
        f.write_str(self.name)
    }
}

impl PartialEq for Registry {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Registry {
    /// The entry that a spec names with its parameters, each of which is in its domain.
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
            return Err(Error::Spec(format!("the {noun} nests more than {DEEPEST} deep")));
        }
        let Spec { name, given } = Spec::parse(noun, text)?;
        let entry = self.entries.iter().find(|entry| entry.name == name).ok_or_else(|| {
            let names: Vec<&str> = self.entries.iter().map(|entry| entry.name).collect();
            Error::unknown(noun, &name, &names)
        })?;
        if depth > 0 && entry.is_alone {
            return Err(Error::Spec(format!("{name} is a whole {noun}, and no part of another")));
        }
        Params::read(noun, entry, given, depth)
    }
}

/// A registered type: its entry, and its building for `Site`, that which it works on.
pub trait Registered<Site: ?Sized>: Sized {
    /// Entry of the registry.
    const ENTRY: Entry;

    /// Builds it from parameters of its own entry.
    fn build(params: &Params, site: &Site) -> Result<Self>;
}

/// The entries of a list of types; their trait carries an `ENTRY`.
macro_rules! entries {
    ({$registered:path} $($entry:path),+ $(,)?) => {
        &[$(<$entry as $registered>::ENTRY),+]
    };
}
pub(crate) use entries;

/// Static dispatch: what `$then` makes of the type in a list whose entry `$params` belong to.
macro_rules! dispatch {
    ({$registered:path, $params:expr, $type:ident => $then:expr} $($entry:path),+ $(,)?) => {{
        let name = $params.entry().name;
        $(if name == <$entry as $registered>::ENTRY.name {
            type $type = $entry;
            return $then;
        })+
        unreachable!("parameters are those of an entry of the registry")
    }};
}
pub(crate) use dispatch;
