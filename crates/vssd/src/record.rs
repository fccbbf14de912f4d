//! Requests as rows of 32 bytes, in journals and in recordings.
//!
//! ```text
//! at_ns (8) · offset (8) · length (4) · op (1) · flags (1) · 0 (2) · sequence (4) · CRC-32 (4)
//! ```
//!
//! In a journal, the initial value of the checksum is the drive's salt. In a recording, it is 0.

use writeamp_engine::request::Op;

/// Bytes of a row.
pub const ROW_BYTES: usize = 32;
const CHECKED_BYTES: usize = ROW_BYTES - size_of::<u32>();
const OPS: [Op; 4] = [Op::Write, Op::Trim, Op::Read, Op::Flush];
const FUA: u8 = 1;

/// A request of the host, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// Kind of the request.
    pub op: Op,
    /// Offset of the first byte on the drive.
    pub offset: u64,
    /// Length in bytes; 0 for a flush.
    pub length: u32,
    /// Force unit access: the request is durable when it is answered.
    pub fua: bool,
}

impl Request {
    /// A request without force unit access.
    pub fn new(op: Op, offset: u64, length: u32) -> Self {
        Request { op, offset, length, fua: false }
    }

    /// A flush.
    pub fn flush() -> Self {
        Request::new(Op::Flush, 0, 0)
    }

    /// True if the request lies entirely on a drive of `size_bytes`.
    pub fn is_on(&self, size_bytes: u64) -> bool {
        self.offset.checked_add(self.length.into()).is_some_and(|end| end <= size_bytes)
    }
}

/// A request that was served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// Time of its arrival, in nanoseconds since the server started.
    pub at_ns: u64,
    /// The request.
    pub request: Request,
    /// Sequence number; the row holds its lower 32 bits.
    pub sequence: u64,
}

impl Record {
    /// Encodes the record as a row.
    pub fn encode(&self, salt: u32) -> [u8; ROW_BYTES] {
        let Record { at_ns, request: Request { op, offset, length, fua }, sequence } = *self;
        let code =
            OPS.iter().position(|candidate| *candidate == op).expect("every op has a code") as u8;
        let mut row = [0; ROW_BYTES];
        row[0..8].copy_from_slice(&at_ns.to_le_bytes());
        row[8..16].copy_from_slice(&offset.to_le_bytes());
        row[16..20].copy_from_slice(&length.to_le_bytes());
        row[20] = code;
        row[21] = if fua { FUA } else { 0 };
        row[24..28].copy_from_slice(&(sequence as u32).to_le_bytes());
        let checksum = checksum(&row, salt);
        row[CHECKED_BYTES..].copy_from_slice(&checksum.to_le_bytes());
        row
    }

    /// Decodes a row; None if it is damaged or has another sequence number.
    pub fn decode(row: &[u8; ROW_BYTES], sequence: u64, salt: u32) -> Option<Record> {
        let word = |at: usize| u64::from_le_bytes(row[at..at + 8].try_into().expect("8 bytes"));
        let half = |at: usize| u32::from_le_bytes(row[at..at + 4].try_into().expect("4 bytes"));
        let is_whole = half(CHECKED_BYTES) == checksum(row, salt);
        if !is_whole || half(24) != sequence as u32 || row[22..24] != [0, 0] || row[21] > FUA {
            return None;
        }
        let op = *OPS.get(usize::from(row[20]))?;
        let request = Request { op, offset: word(8), length: half(16), fua: row[21] == FUA };
        Some(Record { at_ns: word(0), request, sequence })
    }
}

fn checksum(row: &[u8; ROW_BYTES], salt: u32) -> u32 {
    let mut hasher = crc32fast::Hasher::new_with_initial(salt);
    hasher.update(&row[..CHECKED_BYTES]);
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        let request = Request { op: Op::Trim, offset: 1 << 40, length: 4096, fua: true };
        Record { at_ns: 77, request, sequence: (1 << 32) + 5 }
    }

    #[test]
    fn a_row_holds_what_was_put_into_it() {
        assert_eq!(Record::decode(&record().encode(9), (1 << 32) + 5, 9), Some(record()));
    }

    #[test]
    fn a_row_of_another_number_or_drive_or_with_any_bit_changed_is_none() {
        let row = record().encode(9);
        assert_eq!(Record::decode(&row, 6, 9), None);
        assert_eq!(Record::decode(&row, (1 << 32) + 5, 8), None);
        for bit in 0..8 * ROW_BYTES {
            let mut changed = row;
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Record::decode(&changed, (1 << 32) + 5, 9), None, "bit {bit}");
        }
    }

    #[test]
    fn a_row_that_was_never_written_is_none() {
        assert_eq!(Record::decode(&[0; ROW_BYTES], 0, 9), None);
    }
}
