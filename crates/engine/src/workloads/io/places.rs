//! Positions of one direction's accesses: continuing from the last one, or random.

use super::accesses::{Accesses, SizeShare};
use super::chance::Chance;
use super::skew::Skew;
use crate::error::{Error, Result};
use crate::rng::Stream;
use crate::state::state;
use crate::workloads::Context;

/// Accesses of one direction, in bytes from the start of a space.
pub struct Places {
    accesses: Accesses,
    space_bytes: u64,
    /// Number of positions at which a random access may start.
    starts: u32,
    is_random: Chance,
    place: Stream,
    /// Start in bytes of the next access, if it continues from the last one and fits in the
    /// space.
    next_bytes: u64,
}

state! {
    Places {
        fixed accesses,
        fixed space_bytes,
        fixed starts,
        nested is_random,
        nested place,
        value next_bytes,
    } where is_sound
}

impl Places {
    /// Builds the accesses of direction `name`. The first continues from a random position.
    pub fn new(
        accesses: Accesses,
        space_bytes: u64,
        context: &Context,
        name: &str,
    ) -> Result<Self> {
        let starts = starts(&accesses, space_bytes, name)?;
        let mut place = context.stream(&format!("{name}/place"));
        let next_bytes = u64::from(place.below(starts)) * accesses.align_bytes;
        let is_random = Chance::new(accesses.random, context.stream(&format!("{name}/random")));
        Ok(Places { accesses, space_bytes, starts, is_random, place, next_bytes })
    }

    /// Start of the next access, in bytes.
    #[inline]
    pub fn take(&mut self, skew: Option<&mut Skew>) -> u64 {
        let Accesses { size_bytes, stride_bytes, align_bytes, .. } = self.accesses;
        let start_bytes = if self.is_random.happens() {
            let start = match skew {
                None => self.place.below(self.starts),
                Some(skew) => skew.start(align_bytes, self.starts),
            };
            u64::from(start) * align_bytes
        } else if self.next_bytes + size_bytes > self.space_bytes {
            0
        } else {
            self.next_bytes
        };
        self.next_bytes = start_bytes + size_bytes + stride_bytes;
        start_bytes
    }

    /// Size of the next access, in bytes.
    #[inline]
    pub fn take_size(&mut self, sizes: Option<&[SizeShare]>) -> u64 {
        let Some(sizes) = sizes else { return self.accesses.size_bytes };
        let mut drawn = self.place.below(sizes.iter().map(|(_, percent)| percent).sum());
        for &(bytes, percent) in sizes {
            if drawn < percent {
                return bytes;
            }
            drawn -= percent;
        }
        unreachable!("the number drawn is below the sum of the shares")
    }

    /// Accesses, and the number of positions at which random ones may start.
    pub fn accesses_and_starts(&self) -> (Accesses, u32) {
        (self.accesses, self.starts)
    }

    fn is_sound(&self) -> bool {
        self.next_bytes <= self.space_bytes + self.accesses.stride_bytes
    }
}

/// Number of positions at which a random access may start.
fn starts(accesses: &Accesses, space_bytes: u64, name: &str) -> Result<u32> {
    let Accesses { size_bytes, stride_bytes, align_bytes, .. } = *accesses;
    let Some(room_bytes) = space_bytes.checked_sub(size_bytes) else {
        return Err(Error::Spec(format!(
            "a {name} of {size_bytes} bytes does not fit in the {space_bytes} available bytes; \
             give a smaller size or offset, or a larger drive"
        )));
    };
    if stride_bytes > room_bytes {
        return Err(Error::Spec(format!(
            "a stride of {stride_bytes} bytes after a {name} of {size_bytes} leads beyond the \
             {space_bytes} available bytes; give at most {room_bytes}"
        )));
    }
    u32::try_from(room_bytes / align_bytes + 1).map_err(|_| {
        Error::Spec(format!(
            "{space_bytes} bytes have more positions for a {name} than 32 bits can number; give a \
             larger align than {align_bytes}"
        ))
    })
}
