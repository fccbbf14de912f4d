//! Snapshot of the flash, in the format of packed states.
//!
//! ```text
//! identity of the drive (16) · number of the journal that follows it · state of the flash
//! ```

use writeamp_engine::state::{self, Reader, State, Writer};

use crate::files::label::Identity;
use crate::flash::Flash;

/// Flag in the journal's number that marks the snapshot of a timed drive.
const TIMED: u64 = 1 << 63;

/// The flash, its identity, and the number of the journal that follows it.
struct Snapshot<'a> {
    identity: Identity,
    number: u64,
    flash: &'a mut Flash,
}

impl State for Snapshot<'_> {
    fn save(&self, to: &mut Writer) {
        to.value(&self.identity);
        to.value(&(self.number | if self.flash.is_timed() { TIMED } else { 0 }));
        self.flash.save(to);
    }

    fn restore(&mut self, from: &mut Reader) -> writeamp_engine::Result<()> {
        let identity: Identity = from.value("its drive")?;
        if identity != self.identity {
            let why = "this flash belongs to another drive than the data";
            return Err(writeamp_engine::Error::State(why.to_owned()));
        }
        let number: u64 = from.value("the number of its journal")?;
        let was_timed = number & TIMED != 0;
        if was_timed != self.flash.is_timed() {
            let why = if was_timed {
                "this is a timed drive, and must be opened as one: add --timed"
            } else {
                "this drive was made without time, and stays so: leave out what asks for time \
                 (--timed, --time-scale, --rb-capture)"
            };
            return Err(writeamp_engine::Error::State(why.to_owned()));
        }
        self.number = number & !TIMED;
        self.flash.restore(from)
    }
}

/// Encodes a snapshot.
pub fn snapshot(flash: &mut Flash, identity: Identity, number: u64) -> Vec<u8> {
    state::pack(&Snapshot { identity, number, flash })
}

/// Restores a flash from a snapshot; returns the number of the journal that follows it.
pub fn restore(
    flash: &mut Flash,
    identity: Identity,
    bytes: &[u8],
) -> writeamp_engine::Result<u64> {
    let mut snapshot = Snapshot { identity, number: 0, flash };
    state::unpack(&mut snapshot, bytes)?;
    Ok(snapshot.number)
}
