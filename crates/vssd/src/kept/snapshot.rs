//! Snapshot of the flash, as the engine packs states.
//!
//! ```text
//! identity of the drive (16) · number of the journal that goes on from it · state of the flash
//! ```

use writeamp_engine::state::{self, Reader, State, Writer};

use crate::files::label::Identity;
use crate::flash::Flash;

/// Added to the number of a journal where a snapshot is of a timed drive.
const TIMED: u64 = 1 << 63;

/// The flash, and the drive and number of the journal that goes on from it.
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
            let why = "this is the flash of another drive than the data are of";
            return Err(writeamp_engine::Error::State(why.to_owned()));
        }
        let number: u64 = from.value("the number of its journal")?;
        let was_timed = number & TIMED != 0;
        if was_timed != self.flash.is_timed() {
            let why = if was_timed {
                "this drive was made in time, and stays so: ask for time again (--timed)"
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

/// The bytes of a snapshot.
pub fn snapshot(flash: &mut Flash, identity: Identity, number: u64) -> Vec<u8> {
    state::pack(&Snapshot { identity, number, flash })
}

/// Restores a flash from a snapshot; the number of the journal that goes on from it.
pub fn restore(
    flash: &mut Flash,
    identity: Identity,
    bytes: &[u8],
) -> writeamp_engine::Result<u64> {
    let mut kept = Snapshot { identity, number: 0, flash };
    state::unpack(&mut kept, bytes)?;
    Ok(kept.number)
}
