//! Saved state, restored into an object that was built again from the same specs.
//!
//! Data that follows from the construction (parameters, sizes, tables) is never saved, so a state
//! cannot contradict it. Data that changes during a run is saved. [`state!`] declares for each
//! field which of the two it is, and does not compile if a field is missing.
//!
//! Large tables are written as raw little-endian numbers, and read into the allocated table. Other
//! values are serialised by serde in the postcard format. Queues and bags are saved as a list of
//! blocks in order. Their links and indices follow from the order, so that these cannot contradict
//! each other. Data that must agree with the drive is checked against it.

mod element;
mod file;
mod identity;
mod nested;
mod reader;
mod writer;

pub use element::Element;
pub(crate) use element::elements;
pub use file::{intact, pack, try_pack, unpack, unpack_intact};
pub use identity::Identity;
pub use reader::{Reader, contradiction};
pub use writer::{Checksum, Writer};

use crate::error::Result;

/// Type whose data that changes during a run can be saved and restored.
pub trait State {
    /// Writes all data that changes during a run.
    fn save(&self, to: &mut Writer);

    /// Reads the state that [`Self::save`] wrote for a value that was built in the same way.
    /// Returns an error for an impossible state; the value is then unusable.
    fn restore(&mut self, from: &mut Reader) -> Result<()>;
}

/// Implements [`State`] for a struct; each field is listed with its kind:
/// - `fixed`: set at construction; `scratch`: meaningless between two requests;
/// - `value`: of a type that serde supports;
/// - `table`: a vector of fixed length; `list`: a vector or queue that grows and shrinks; `lists`:
///   a fixed number of lists; all of them of an [`Element`];
/// - `nested`: of a type with its own [`State`], or a box, option or vector of one.
///
/// After `where`, a method that checks the restored data, so that it cannot cause a panic. It
/// returns a `bool`, or a `Result` with the reason. Fields of a tuple are named by their numbers.
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
                // If a field is missing from the list, this pattern does not compile.
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
    (@save nested $self:ident $to:ident $field:tt) => {
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
    (@restore nested $self:ident $from:ident $type:ident $field:tt) => {
        $crate::state::State::restore(&mut $self.$field, $from)?
    };
}
pub(crate) use state;

/// Upper bound of plausible counters: beyond any drive's life, and too small for sums to
/// overflow.
pub const MOST_PLAUSIBLE: u64 = 1 << 56;

/// Result of the check of a restored value: valid, or invalid with a reason.
pub trait Verdict {
    /// Returns an error that names `what` if the value is invalid.
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

/// Returns an error if the restored `what` is invalid.
pub fn require(is_sound: bool, what: &str) -> Result<()> {
    if is_sound { Ok(()) } else { Err(contradiction(what)) }
}

#[cfg(test)]
mod tests;
