//! Saved states with changes behind their checksum: refused in words, or fit to be driven on.
//!
//! A run is built, driven and saved; the fuzzer says where its bytes are changed, cut or repeated.

#![no_main]

use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::{Corpus, fuzz_target};
use writeamp_engine::flash::{EraseUnit, Geometry, Shape, Wear};
use writeamp_engine::managers::{self, Layout, Setup};
use writeamp_engine::registry::Entry;
use writeamp_engine::simulation::Simulation;
use writeamp_engine::state::{intact, unpack_intact};
use writeamp_engine::workloads::{self, Context};
use writeamp_engine::{Error, leveling, victims};

const LOGICAL_PAGES: u32 = 700;
const WRITES_BEFORE: u64 = 1000;
const WRITES_AFTER: u64 = 1000;

fuzz_target!(|bytes: &[u8]| -> Corpus {
    match change_and_restore(&mut Unstructured::new(bytes)) {
        Ok(()) => Corpus::Keep,
        Err(_) => Corpus::Reject, // the bytes have run out
    }
});

/// Parts that a run is built from.
struct Parts {
    manager: &'static str,
    workload: &'static str,
    setup: Setup,
}

impl Parts {
    fn choose(bytes: &mut Unstructured) -> Result<Self> {
        let example = |entries: &'static [Entry], bytes: &mut Unstructured| {
            bytes.choose(entries).map(|entry| entry.example)
        };
        let (manager, workload) =
            (example(managers::ENTRIES, bytes)?, example(workloads::ENTRIES, bytes)?);
        let victims = example(victims::ENTRIES, bytes)?;
        let leveler = example(leveling::ENTRIES, bytes)?;
        let shape = Shape {
            channels: 2,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 1,
            blocks_per_plane: 50,
            pages_per_block: 18,
            page_bytes: 4096,
            erase_unit: EraseUnit::Block,
        };
        let worn = Wear { limit: 4, spare_blocks_per_pool: 2 };
        let setup = Setup {
            logical_pages: LOGICAL_PAGES,
            layout: *bytes.choose(&Layout::ALL)?,
            victims: bytes.arbitrary::<bool>()?.then(|| victims.to_owned()),
            wear_leveling: bytes.arbitrary::<bool>()?.then(|| leveler.to_owned()),
            wear: if bytes.arbitrary()? { worn } else { Wear::default() },
            ..Setup::new(Geometry::new(shape).expect("a small drive"))
        };
        Ok(Parts { manager, workload, setup })
    }

    fn build(&self) -> writeamp_engine::Result<Simulation> {
        let drive = managers::build(self.manager, self.setup.clone())?;
        let workload = workloads::build(self.workload, LOGICAL_PAGES, Context::root(1))?;
        Simulation::new(drive, workload, 64)
    }

    /// The bytes of a run that has come some way; `None` if there is no such drive.
    fn saved(&self) -> Option<Vec<u8>> {
        let mut run = self.build().ok()?;
        run.fill(0, LOGICAL_PAGES - 100).and_then(|()| run.run(WRITES_BEFORE)).ok()?;
        Some(run.save())
    }
}

fn change_and_restore(bytes: &mut Unstructured) -> Result<()> {
    let parts = Parts::choose(bytes)?;
    let Some(saved) = parts.saved() else { return Ok(()) };
    let mut state = intact(&saved).expect("what was just saved").to_vec();
    for _ in 0..bytes.int_in_range(1..=4)? {
        let at = bytes.int_in_range(0..=state.len() - 1)?;
        match bytes.int_in_range(0..=9)? {
            0 => state.truncate(at + 1),
            1 => state.insert(at, bytes.arbitrary()?),
            2 => drop(state.remove(at)),
            3..=5 => state[at] = state[at].wrapping_add_signed(bytes.arbitrary()?),
            _ => state[at] = bytes.arbitrary()?,
        }
        if state.is_empty() {
            break;
        }
    }
    let mut run = parts.build().expect("it was built before");
    match unpack_intact(&mut run, &state) {
        Ok(()) => drop(run.run(WRITES_AFTER)),
        Err(Error::State(_) | Error::OutOfMemory { .. }) => {}
        Err(other) => panic!("{other}"),
    }
    Ok(())
}
