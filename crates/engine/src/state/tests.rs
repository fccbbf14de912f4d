use super::file::VERSION;
use super::{Identity, Reader, State, Writer, elements, pack, unpack};
use crate::error::Result;
use crate::rng::Stream;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Pair {
    one: u32,
    other: bool,
}

elements!(Pair { one: u32, other: bool });

#[derive(Debug, Clone)]
struct Thing {
    size: u32,
    table: Vec<u32>,
    pairs: Vec<Pair>,
    share: f64,
    random: Stream,
    buffer: Vec<u8>,
}

state! {
    Thing {
        fixed size,
        table table,
        list pairs,
        value share,
        nested random,
        scratch buffer,
    } where is_sound
}

impl Thing {
    fn new(size: u32) -> Self {
        let random = Stream::new(1, "test");
        Thing {
            size,
            table: vec![0; size as usize],
            pairs: vec![],
            share: 0.0,
            random,
            buffer: vec![],
        }
    }

    fn driven(size: u32) -> Self {
        let mut thing = Thing::new(size);
        thing.table.iter_mut().for_each(|n| *n = thing.random.bits() as u32 % size);
        thing.pairs = vec![Pair { one: 7, other: true }, Pair { one: u32::MAX, other: false }];
        thing.share = 0.1 + 0.2;
        thing.buffer.push(9);
        thing
    }

    fn is_sound(&self) -> bool {
        self.table.iter().all(|&n| n < self.size)
    }
}

/// More than one chunk of the writer.
const SIZE: u32 = 5000;

fn restored(bytes: &[u8]) -> Result<Thing> {
    let mut thing = Thing::new(SIZE);
    unpack(&mut thing, bytes).map(|()| thing)
}

fn sentence(bytes: &[u8]) -> String {
    restored(bytes).unwrap_err().to_string()
}

#[test]
fn what_changes_is_restored_and_what_is_fixed_is_not_saved() {
    let saved = Thing::driven(SIZE);
    let mut found = restored(&pack(&saved)).unwrap();
    assert_eq!((&found.table, &found.pairs), (&saved.table, &saved.pairs));
    assert_eq!(found.share.to_bits(), saved.share.to_bits());
    assert_eq!(found.random.bits(), saved.random.clone().bits());
    assert_eq!(found.buffer, [0; 0]);
}

#[test]
fn a_state_that_is_saved_again_is_the_same_bytes() {
    let bytes = pack(&Thing::driven(SIZE));
    assert_eq!(pack(&restored(&bytes).unwrap()), bytes);
}

#[test]
fn bytes_that_are_not_what_was_saved_are_refused_in_a_sentence() {
    let bytes = pack(&Thing::driven(SIZE));
    for length in (0..bytes.len()).step_by(97) {
        assert!(restored(&bytes[..length]).is_err());
    }
    for at in (0..bytes.len()).step_by(101).chain(bytes.len() - 4..bytes.len()) {
        let mut wrong = bytes.clone();
        wrong[at] ^= 1 << (at % 8);
        assert!(restored(&wrong).is_err(), "{at}");
    }
    assert!(sentence(b"PK").contains("not the saved state"));
    assert!(sentence(&bytes[..bytes.len() - 1]).contains("truncated"));
    assert!(sentence(&[&bytes[..], &[0]].concat()).contains("extra bytes"));
    let mut flipped = bytes.clone();
    flipped[1000] ^= 1;
    assert!(sentence(&flipped).contains("checksum"));
    let mut later = bytes.clone();
    later[8] += 1;
    assert!(sentence(&later).contains(&format!("version {} of the format", VERSION + 1)));
}

#[test]
fn a_state_of_something_else_is_refused_by_what_differs() {
    let red = Identity::default().with("size", "7").with("color", "red");
    let mut blue = Identity::default().with("size", "7").with("color", "blue");
    let refused = |own: &mut Identity| unpack(own, &pack(&red)).unwrap_err().to_string();
    assert!(refused(&mut blue).ends_with("its color is red, but here it is blue"));
    assert!(refused(&mut Identity::default()).contains("other settings"));
    assert_eq!(unpack(&mut red.clone(), &pack(&red)), Ok(()));
}

#[test]
fn content_that_cannot_be_is_refused_even_where_the_checksum_is_right() {
    let mut wrong = Thing::driven(SIZE);
    wrong.table[17] = SIZE;
    assert!(sentence(&pack(&wrong)).contains("Thing"));
    // A table of another size, and a list longer than the bytes that there are.
    let other = pack(&Thing::driven(SIZE - 1));
    assert!(sentence(&other).contains("does not fit"));
    let mut to = Writer::default();
    to.value(&u64::MAX);
    let mut pairs: Vec<Pair> = Vec::new();
    assert!(Reader::new(&to.bytes).list(&mut pairs, "pairs").is_err());
}

#[test]
fn a_generator_of_zeros_only_is_refused() {
    let mut stream = Stream::new(1, "test");
    assert!(stream.restore(&mut Reader::new(&[0; 4])).is_err());
    assert!(stream.restore(&mut Reader::new(&[1, 0, 0, 0])).is_ok());
}
