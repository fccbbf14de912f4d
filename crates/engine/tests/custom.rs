//! Custom policies, here of these tests.
//! They do what the same policy of the engine's own does, and what fails in them ends the run and
//! nothing else.

use std::sync::Arc;

use writeamp_engine::faults::{Answer, Failure, Hook};
use writeamp_engine::flash::{Counters, EraseUnit, Geometry, Shape, Wear};
use writeamp_engine::hints::RequiredHints;
use writeamp_engine::managers::{self, CustomPolicies, Layout, Setup};
use writeamp_engine::placements::{
    CustomStreams, HostPage, PlacementCalls, PlacementSource, Sizes, Victim,
};
use writeamp_engine::simulation::Simulation;
use writeamp_engine::state::try_pack;
use writeamp_engine::victims::{Candidates, VictimCalls, VictimSource};
use writeamp_engine::workloads::{self, Context};
use writeamp_engine::{Error, Result};

const LOGICAL_PAGES: u32 = 1500;
const REGIONS: usize = 4;

/// Fault of a placement, after so many answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wrong {
    Nothing,
    HostStream(i64),
    MigrationStream(i64),
    TooFew,
    Trim,
    Save,
}

/// `dac:regions=4` (Chiang, Lee & Chang 1999): hotter by writes, colder by migrations.
#[derive(Debug, Clone, Copy)]
struct DacSource {
    wrong: Wrong,
    migration: usize,
}

struct Dac {
    region_of: Vec<u8>,
    source: DacSource,
    answers: u64,
}

impl PlacementSource for DacSource {
    fn name(&self) -> &'static str {
        "custom dac"
    }

    fn victims(&self) -> &'static str {
        "cost-benefit"
    }

    fn required_hints(&self) -> RequiredHints {
        RequiredHints::Nothing
    }

    fn build(&self, sizes: &Sizes) -> Result<Box<dyn PlacementCalls>> {
        let region_of = vec![u8::MAX; sizes.logical_pages as usize];
        Ok(Box::new(Dac { region_of, source: *self, answers: 0 }))
    }
}

impl Dac {
    /// The answer, or the wrong one if it is time for that.
    fn answer(&mut self, right: u8, wrong: impl Fn(Wrong) -> Option<i64>) -> i64 {
        self.answers += 1;
        let is_time = self.answers > 2500;
        wrong(self.source.wrong).filter(|_| is_time).unwrap_or(i64::from(right))
    }
}

impl PlacementCalls for Dac {
    fn streams(&self) -> CustomStreams {
        CustomStreams { all: REGIONS, migration: (0..self.source.migration).collect() }
    }

    fn host_stream(&mut self, page: &HostPage) -> Answer<i64> {
        let region = &mut self.region_of[page.logical as usize];
        *region = if *region == u8::MAX { 0 } else { (*region + 1).min(REGIONS as u8 - 1) };
        let right = *region;
        Ok(self.answer(right, |wrong| match wrong {
            Wrong::HostStream(stream) => Some(stream),
            _ => None,
        }))
    }

    fn on_victim(&mut self, _victim: &Victim) -> Answer<()> {
        Ok(())
    }

    fn migration_streams(
        &mut self,
        pages: &[u32],
        _victim: &Victim,
        streams: &mut Vec<i64>,
    ) -> Answer<()> {
        for &page in pages {
            let region = &mut self.region_of[page as usize];
            *region = region.saturating_sub(1);
            let right = *region;
            streams.push(self.answer(right, |wrong| match wrong {
                Wrong::MigrationStream(stream) => Some(stream),
                _ => None,
            }));
        }
        if self.source.wrong == Wrong::TooFew && self.answers > 2500 {
            streams.pop();
        }
        Ok(())
    }

    fn forget(&mut self, logical: u32) -> Answer<()> {
        self.region_of[logical as usize] = u8::MAX;
        if self.source.wrong == Wrong::Trim {
            Err(Failure::of("did not like it".into()))
        } else {
            Ok(())
        }
    }

    fn word(&self, hook: Hook) -> &'static str {
        match hook {
            Hook::Write => "write",
            Hook::Migrate => "migrate",
            _ => "other",
        }
    }

    fn bytes(&self) -> u64 {
        self.region_of.len() as u64
    }

    fn save(&self) -> Result<Vec<u8>> {
        if self.source.wrong == Wrong::Save {
            return Err(Error::Spec("it is no secret that this cannot be saved".into()));
        }
        Ok(self.region_of.clone())
    }

    fn restore(&mut self, bytes: &[u8]) -> Result<()> {
        self.region_of.copy_from_slice(bytes);
        Ok(())
    }
}

/// `fifo`, or one that answers a place that there is not.
#[derive(Debug, Clone, Copy)]
struct FifoSource {
    is_wrong: bool,
}

struct Fifo {
    is_wrong: bool,
    /// Times that it was asked: something to remember.
    asked: u64,
}

impl VictimSource for FifoSource {
    fn name(&self) -> &'static str {
        "custom fifo"
    }

    fn build(&self, _: &Geometry, _: u32, _: u64) -> Result<Box<dyn VictimCalls>> {
        Ok(Box::new(Fifo { is_wrong: self.is_wrong, asked: 0 }))
    }
}

impl VictimCalls for Fifo {
    fn choose(&mut self, candidates: &Candidates) -> Answer<i64> {
        self.asked += 1;
        assert!(candidates.closed_at.is_sorted() && !candidates.blocks.is_empty());
        if self.is_wrong {
            return Ok(i64::try_from(candidates.blocks.len()).unwrap());
        }
        Ok(0)
    }

    fn word(&self, _hook: Hook) -> &'static str {
        "choose"
    }

    fn save(&self) -> Result<Vec<u8>> {
        Ok(self.asked.to_le_bytes().to_vec())
    }

    fn restore(&mut self, bytes: &[u8]) -> Result<()> {
        self.asked = u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
        Ok(())
    }
}

fn setup(layout: Layout, leveler: Option<&str>, custom: CustomPolicies) -> Setup {
    let shape = Shape {
        channels: 2,
        chips_per_channel: 1,
        dies_per_chip: 1,
        planes_per_die: 1,
        blocks_per_plane: 70,
        pages_per_block: 16,
        page_bytes: 4096,
        erase_unit: EraseUnit::Block,
    };
    Setup {
        geometry: Geometry::new(shape).unwrap(),
        logical_pages: LOGICAL_PAGES,
        layout,
        victims: None,
        wear_leveling: leveler.map(str::to_owned),
        seed: 5,
        wear: Wear::default(),
        table_pages: 0,
        custom,
        tags: None,
        counts_handles: false,
    }
}

fn custom_placement(wrong: Wrong) -> CustomPolicies {
    CustomPolicies {
        placement: Some(Arc::new(DacSource { wrong, migration: REGIONS })),
        ..CustomPolicies::default()
    }
}

fn custom_victims(is_wrong: bool) -> CustomPolicies {
    CustomPolicies { victims: Some(Arc::new(FifoSource { is_wrong })), ..CustomPolicies::default() }
}

fn run(manager: &str, setup: Setup) -> Result<Simulation> {
    let drive = managers::build(manager, setup)?;
    let workload = workloads::build("hot-cold:f=0.2,r=0.8", LOGICAL_PAGES, Context::root(3))?;
    Simulation::new(drive, workload, 100)
}

/// Runs it with trims in between; returns what it counted.
fn counted(run: &mut Simulation) -> Result<Counters> {
    run.fill(0, LOGICAL_PAGES)?;
    run.run(6000)?;
    run.drive_mut().trim(100..250)?;
    run.run(6000)?;
    run.drive().assert_invariants();
    Ok(*run.counters())
}

#[test]
fn a_placement_of_a_user_does_what_the_same_of_the_engine_does() {
    for layout in Layout::ALL {
        for leveler in [None, Some("static:threshold=4"), Some("youngest-free")] {
            let own = counted(
                &mut run("any", setup(layout, leveler, custom_placement(Wrong::Nothing))).unwrap(),
            );
            let built_in = setup(layout, leveler, CustomPolicies::default());
            let built_in = counted(&mut run("dac:regions=4", built_in).unwrap());
            assert_eq!(own, built_in, "{layout:?}, {leveler:?}");
        }
    }
}

#[test]
fn a_victim_policy_of_a_user_does_what_the_same_of_the_engine_does() {
    for layout in Layout::ALL {
        let own = setup(layout, None, custom_victims(false));
        let fifo = Setup {
            victims: Some("fifo".into()),
            ..setup(layout, None, CustomPolicies::default())
        };
        let [own, fifo] = [own, fifo].map(|setup| counted(&mut run("single", setup).unwrap()));
        assert_eq!(own, fifo, "{layout:?}");
    }
}

#[test]
fn a_run_that_is_restored_in_the_middle_goes_on_as_if_it_had_not_been() {
    for layout in Layout::ALL {
        let custom = || CustomPolicies {
            placement: custom_placement(Wrong::Nothing).placement,
            victims: custom_victims(false).victims,
            own_pages: None,
        };
        let new = || run("any", setup(layout, None, custom())).unwrap();
        let mut saved = new();
        counted(&mut saved).unwrap();
        let mut restored = new().restored(&try_pack(&saved).unwrap()).unwrap();
        for run in [&mut saved, &mut restored] {
            run.run(3000).unwrap();
        }
        assert!(try_pack(&saved) == try_pack(&restored), "{layout:?}");
    }
}

#[test]
fn a_state_of_another_policy_is_refused() {
    let own = run("any", setup(Layout::Flat, None, custom_placement(Wrong::Nothing))).unwrap();
    let other = run("dac:regions=4", setup(Layout::Flat, None, CustomPolicies::default())).unwrap();
    let error = other.restored(&try_pack(&own).unwrap()).err().unwrap().to_string();
    assert!(error.contains("its block manager is custom dac, but here it is dac"), "{error}");
}

#[test]
fn what_a_placement_does_wrong_ends_the_run_in_a_sentence() {
    let cases = [
        (
            Wrong::HostStream(4),
            "write of custom dac returned the stream 4, but its streams are 0 to 3 (page ",
        ),
        (
            Wrong::HostStream(-1),
            "write of custom dac returned the stream -1, but its streams are 0 to 3 (page ",
        ),
        (
            Wrong::HostStream(i64::MIN),
            "write of custom dac returned the stream -9223372036854775808, but ",
        ),
        (
            Wrong::MigrationStream(7),
            "migrate of custom dac returned the stream 7, but its streams for migrated pages are 0, 1, 2, 3 (page ",
        ),
        (Wrong::TooFew, "migrate of custom dac returned "),
        (Wrong::Trim, "other of custom dac did not like it (page 100, after 7500 host pages"),
    ];
    for (wrong, sentence) in cases {
        let mut failed = run("any", setup(Layout::Flat, None, custom_placement(wrong))).unwrap();
        let error = counted(&mut failed).expect_err(sentence);
        assert!(matches!(error, Error::CustomPolicy(_)), "{error:?}");
        assert!(error.to_string().starts_with(sentence), "{error}");
        assert!(error.to_string().ends_with("host pages written)"), "{error}");
        let counters = failed.counters();
        assert!(counters.host.written_pages > 1000, "{counters:?}");
        failed.drive().assert_invariants();
    }
}

#[test]
fn what_a_victim_policy_does_wrong_ends_the_run_in_a_sentence() {
    let mut failed = run("single", setup(Layout::Flat, None, custom_victims(true))).unwrap();
    let error = counted(&mut failed).unwrap_err().to_string();
    assert!(error.starts_with("choose of custom fifo returned "), "{error}");
    assert!(error.contains("numbered from 0"), "{error}");
}

#[test]
fn a_policy_that_cannot_be_saved_says_so() {
    let own = run("any", setup(Layout::Flat, None, custom_placement(Wrong::Save))).unwrap();
    assert_eq!(
        try_pack(&own),
        Err(Error::Spec("it is no secret that this cannot be saved".into()))
    );
}

#[test]
fn streams_that_are_none_and_drives_too_small_for_them_are_refused() {
    let with = |migration, logical_pages| {
        let source = DacSource { wrong: Wrong::Nothing, migration };
        let custom =
            CustomPolicies { placement: Some(Arc::new(source)), ..CustomPolicies::default() };
        let setup = Setup { logical_pages, ..setup(Layout::Flat, None, custom) };
        managers::build("any", setup).err().map(|error| error.to_string())
    };
    assert_eq!(with(REGIONS, LOGICAL_PAGES), None);
    let none = with(0, LOGICAL_PAGES).unwrap();
    assert!(none.contains("names the streams none for migrated pages"), "{none}");
    let fifth = with(5, LOGICAL_PAGES).unwrap();
    assert!(fifth.contains("only streams of its own: 0 to 3"), "{fifth}");
    let small = with(REGIONS, 140 * 16 - 96).unwrap();
    assert!(
        small.starts_with("the drive is too small for custom dac: it has 96 spare pages"),
        "{small}"
    );
}

#[test]
fn a_manager_with_victims_of_its_own_takes_none_of_a_user() {
    let error =
        managers::build("wolf", setup(Layout::Flat, None, custom_victims(false))).err().unwrap();
    assert!(
        error.to_string().contains("does not support the victim policy 'custom fifo'"),
        "{error}"
    );
    let shaped = managers::build(
        "hcwf:d=3,detector=bloom",
        setup(Layout::Flat, None, custom_victims(false)),
    );
    assert!(shaped.err().unwrap().to_string().contains("another victim policy, not both"));
}
