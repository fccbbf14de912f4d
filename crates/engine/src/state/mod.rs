//! State that can be saved, and restored into what was built anew from the same specs.
//!
//! What a type is built from (its parameters, its sizes, tables that follow from them) is never
//! saved, so a state cannot contradict it; what changes as a drive is driven is. [`state!`] says of
//! each field which of the two it is, and does not compile if one is left out.
//!
//! Large tables are written as raw little-endian numbers and read into place, which keeps them where
//! they were allocated. Other values go through serde, in the format of postcard. Queues and bags are
//! saved as their order, from which links and places follow, so that these cannot contradict each
//! other; what must agree with the drive is checked against it.

mod element;
mod file;
mod identity;
mod parts;
mod reader;
mod writer;

pub use element::Element;
pub(crate) use element::elements;
pub use file::{intact, pack, try_pack, unpack, unpack_intact};
pub use identity::Identity;
pub use reader::{Reader, contradiction};
pub use writer::{Checksum, Writer};

use crate::error::Result;

/// The part of a value that changes as a drive is driven.
pub trait State {
    /// Writes all of it.
    fn save(&self, to: &mut Writer);

    /// Reads what [`Self::save`] wrote of a value that was built in the same way.
    /// Refuses what such a value cannot come to; this one is then of no use.
    fn restore(&mut self, from: &mut Reader) -> Result<()>;
}

/// Implements [`State`] for a struct, of which every field is named with its kind:
/// - `fixed`: decided when it is built; `scratch`: of no meaning between two requests;
/// - `value`: of any type that serde knows;
/// - `table`: a vector of fixed length; `list`: a vector or queue that grows and shrinks; `lists`: as
///   many lists as there were; all of them of an [`Element`];
/// - `part`: of a type that has a [`State`] of its own, or a box, option or vector of one.
///
/// After `where`, a method that says whether what was read is sound, so that it can be used without
/// a panic: as a `bool`, or a `Result` that says why not. Fields of a tuple are named by their numbers.
macro_rules! state {
    (
        $type:ident $(<$($generic:ident $(: $bound:path)?),+>)?
        { $($kind:ident $field:tt),* $(,)? } $(where $is_sound:ident)?
    ) => {
        impl $(<$($generic $(: $bound)?),+>)? $crate::state::State
            for $type $(<$($generic),+>)?
        {
            #[allow(unused_variables)]
            fn save(&self, to: &mut $crate::state::Writer) {
                // A field that is not named does not compile.
                let Self { $($field: _),* } = self;
                $($crate::state::state!(@save $kind self to $field);)*
            }

            #[allow(unused_variables)]
            fn restore(&mut self, from: &mut $crate::state::Reader) -> $crate::error::Result<()> {
                $($crate::state::state!(@restore $kind self from $type $field);)*
                $($crate::state::Verdict::or_refuse(self.$is_sound(), stringify!($type))?;)?
                Ok(())
            }
        }
    };
    (@save fixed $self:ident $to:ident $field:tt) => {};
    (@save scratch $self:ident $to:ident $field:tt) => {};
    (@save value $self:ident $to:ident $field:tt) => { $to.value(&$self.$field) };
    (@save table $self:ident $to:ident $field:tt) => { $to.table(&$self.$field) };
    (@save list $self:ident $to:ident $field:tt) => { $to.list(&$self.$field) };
    (@save lists $self:ident $to:ident $field:tt) => {
        $self.$field.iter().for_each(|list| $to.list(list))
    };
    (@save part $self:ident $to:ident $field:tt) => {
        $crate::state::State::save(&$self.$field, $to)
    };
    (@restore fixed $self:ident $from:ident $type:ident $field:tt) => {};
    (@restore scratch $self:ident $from:ident $type:ident $field:tt) => {};
    (@restore value $self:ident $from:ident $type:ident $field:tt) => {
        $self.$field = $from.value(concat!(stringify!($type), ".", stringify!($field)))?
    };
    (@restore table $self:ident $from:ident $type:ident $field:tt) => {
        $from.table(&mut $self.$field, concat!(stringify!($type), ".", stringify!($field)))?
    };
    (@restore list $self:ident $from:ident $type:ident $field:tt) => {
        $from.list(&mut $self.$field, concat!(stringify!($type), ".", stringify!($field)))?
    };
    (@restore lists $self:ident $from:ident $type:ident $field:tt) => {
        $self.$field.iter_mut().try_for_each(|list| {
            $from.list(list, concat!(stringify!($type), ".", stringify!($field)))
        })?
    };
    (@restore part $self:ident $from:ident $type:ident $field:tt) => {
        $crate::state::State::restore(&mut $self.$field, $from)?
    };
}
pub(crate) use state;

/// Bound of plausible counts: more than a drive's life, and too little for sums to overflow.
pub const MOST_PLAUSIBLE: u64 = 1 << 56;

/// Verdict of the check of a restored value.
pub trait Verdict {
    /// An error that names `what`, unless the value is sound.
    fn or_refuse(self, what: &str) -> Result<()>;
}

impl Verdict for bool {
    fn or_refuse(self, what: &str) -> Result<()> {
        require(self, what)
    }
}

impl Verdict for Result<()> {
    fn or_refuse(self, _what: &str) -> Result<()> {
        self
    }
}

/// An error unless what was read of `what` is sound.
pub fn require(is_sound: bool, what: &str) -> Result<()> {
    if is_sound { Ok(()) } else { Err(contradiction(what)) }
}

#[cfg(test)]
mod tests;
