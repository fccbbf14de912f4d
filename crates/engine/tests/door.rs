//! Policies of a Rust user's own, compiled into the loop: they do what the engine's own do.

use writeamp_engine::flash::{Blocks, Counters, Geometry};
use writeamp_engine::hints::{Group, Hints, RequiredHints};
use writeamp_engine::managers::{self, BlockManager, CustomPolicies, Layout, Setup};
use writeamp_engine::placements::{HostPage, Placement, SelfDeclared, Streams, Victim};
use writeamp_engine::rng::Stream;
use writeamp_engine::simulation::Simulation;
use writeamp_engine::state::{Reader, State, Writer};
use writeamp_engine::victims::{Census, IntoVictims, VictimPolicy};
use writeamp_engine::workloads::{self, Context};
use writeamp_engine::{Error, Result};

const REGIONS: u8 = 4;

/// `dac:regions=4`: hotter with each write, colder with each migration.
struct Dac {
    region_of: Vec<u8>,
}

impl Dac {
    fn new(setup: &Setup) -> Self {
        Dac { region_of: vec![u8::MAX; setup.sizes().logical_pages as usize] }
    }
}

impl State for Dac {
    fn save(&self, to: &mut Writer) {
        to.table(&self.region_of);
    }

    fn restore(&mut self, from: &mut Reader) -> Result<()> {
        from.table(&mut self.region_of, "the regions")
    }
}

impl Placement for Dac {
    fn host_stream(&mut self, page: HostPage) -> usize {
        let region = &mut self.region_of[page.logical as usize];
        *region = if *region == u8::MAX { 0 } else { (*region + 1).min(REGIONS - 1) };
        usize::from(*region)
    }

    fn forget(&mut self, logical: u32) {
        self.region_of[logical as usize] = u8::MAX;
    }

    fn migration_stream(&mut self, logical: u32, _victim: &Victim) -> usize {
        let region = &mut self.region_of[logical as usize];
        *region = region.saturating_sub(1);
        usize::from(*region)
    }
}

impl SelfDeclared for Dac {
    fn name(&self) -> String {
        "my dac".into()
    }

    fn streams(&self) -> Streams {
        Streams { all: usize::from(REGIONS), migration: usize::from(REGIONS) }
    }
}

/// `fifo`: the block that closed first.
#[derive(Clone, Default)]
struct Fifo {
    closed: Vec<u32>,
}

impl State for Fifo {
    fn save(&self, to: &mut Writer) {
        to.list(&self.closed);
    }

    fn restore(&mut self, from: &mut Reader) -> Result<()> {
        from.list(&mut self.closed, "the closed blocks")
    }
}

impl VictimPolicy for Fifo {
    const TRACKS_PAGES: bool = false;

    fn on_close(&mut self, block: u32, _invalid_pages: u32, _now: u64) {
        self.closed.push(block);
    }

    fn choose(&mut self, _blocks: &Blocks, _now: u64, _random: &mut Stream) -> Option<u32> {
        (!self.closed.is_empty()).then(|| self.closed.remove(0))
    }

    fn forget(&mut self, block: u32, _invalid_pages: u32) {
        self.closed.retain(|other| *other != block);
    }

    fn check(&self, census: &mut Census) -> Result<()> {
        census.count_all(&self.closed)
    }
}

fn setup(layout: Layout) -> Setup {
    Setup::new(Geometry::flat(140, 16).unwrap()).logical_pages(1500).layout(layout).seed(5)
}

fn simulation(drive: Box<dyn BlockManager>) -> Simulation {
    let workload = workloads::build("hot-cold:f=0.2,r=0.8", 1500, Context::root(3)).unwrap();
    Simulation::new(drive, workload, 100).unwrap()
}

fn counted(drive: Box<dyn BlockManager>) -> Counters {
    let mut run = simulation(drive);
    run.fill(0, 1500).unwrap();
    run.run(6000).unwrap();
    run.drive_mut().trim(100..250).unwrap();
    run.run(6000).unwrap();
    run.drive().assert_invariants();
    *run.counters()
}

fn own(layout: Layout, victims: impl IntoVictims) -> Box<dyn BlockManager> {
    let setup = setup(layout);
    managers::build_with(Dac::new(&setup), victims, setup).unwrap()
}

#[test]
fn policies_of_a_users_own_do_what_the_registered_ones_do() {
    for layout in Layout::ALL {
        for victims in ["fifo", "greedy", "cost-benefit"] {
            let registered = managers::build("dac:regions=4", setup(layout).victims(victims));
            let registered = counted(registered.unwrap());
            assert_eq!(counted(own(layout, victims)), registered, "{layout:?}, {victims}");
            if victims == "fifo" {
                assert_eq!(counted(own(layout, Fifo::default())), registered, "{layout:?}");
            }
        }
    }
}

#[test]
fn a_run_of_a_users_own_policies_goes_on_where_it_was_saved() {
    let new = || simulation(own(Layout::Flat, Fifo::default()));
    let mut saved = new();
    saved.fill(0, 1500).unwrap();
    saved.run(5000).unwrap();
    let mut restored = new().restored(&saved.save()).unwrap();
    for run in [&mut saved, &mut restored] {
        run.run(3000).unwrap();
    }
    assert_eq!(saved.save(), restored.save());
    let other = simulation(own(Layout::Flat, "fifo"));
    let error = other.restored(&saved.save()).err().unwrap();
    assert!(matches!(error, Error::State(_)), "{error:?}");
    assert!(error.to_string().contains("its victim policy is door::Fifo"), "{error}");
}

/// A placement of so many streams that needs the groups of the host, or nothing.
struct Streaming(Streams, RequiredHints);

impl State for Streaming {
    fn save(&self, _to: &mut Writer) {}

    fn restore(&mut self, _from: &mut Reader) -> Result<()> {
        Ok(())
    }
}

impl Placement for Streaming {
    const USES_HOST_HINTS: bool = true;

    fn host_stream(&mut self, page: HostPage) -> usize {
        usize::from(page.group)
    }

    fn migration_stream(&mut self, _logical: u32, _victim: &Victim) -> usize {
        self.0.all - 1
    }
}

impl SelfDeclared for Streaming {
    fn streams(&self) -> Streams {
        self.0
    }

    fn required_hints(&self) -> RequiredHints {
        self.1
    }
}

#[test]
fn a_users_own_placement_hears_what_it_says() {
    let streams = Streams { all: 3, migration: 1 };
    let placement = Streaming(streams, RequiredHints::Groups);
    let mut drive = managers::build_with(placement, "greedy", setup(Layout::Flat)).unwrap();
    let error = drive.write(&[1, 2], None).unwrap_err().to_string();
    assert!(error.starts_with("door::Streaming needs hints on "), "{error}");
    let groups = [Group { pages: 750, write_share: 0.5 }; 2];
    let hints = Hints { groups: &groups, group_of: &[0, 1], ..Hints::default() };
    drive.write(&[1, 2], Some(hints)).unwrap();
    let flash = drive.flash();
    let [one, other] = [1, 2].map(|page| flash.block_of(flash.physical(page).unwrap()));
    assert_ne!(one, other, "each group has a block of its own");
}

#[test]
fn what_cannot_be_built_is_refused() {
    let refused = |all, migration, setup| {
        let placement = Streaming(Streams { all, migration }, RequiredHints::Nothing);
        managers::build_with(placement, "greedy", setup).err().unwrap()
    };
    for (all, migration) in [(0, 0), (257, 1), (2, 0), (2, 3)] {
        let error = refused(all, migration, setup(Layout::Flat));
        assert!(error.to_string().contains("it must have 1 to 256"), "{error}");
    }
    let error = refused(200, 1, setup(Layout::Flat));
    assert!(matches!(error, Error::Geometry(_)), "{error:?}");
    let error = refused(2, 1, setup(Layout::Flat).victims("fifo"));
    assert!(error.to_string().contains("build_with takes its policies"), "{error}");
    let error = refused(2, 1, setup(Layout::Flat).table_pages(20));
    assert!(error.to_string().contains("needs an observer"), "{error}");
    let error = refused(2, 1, setup(Layout::Flat).table_pages(2000));
    assert!(error.to_string().contains("at most the drive's 1500 logical pages"), "{error}");
    for op in [f64::NAN, -0.5, -3.0, 0.0, 1e9] {
        let setup = setup(Layout::Flat).op(op).custom(CustomPolicies::default());
        assert!(managers::build("single", setup).is_err(), "{op}");
    }
}

#[test]
fn errors_are_told_by_their_variants() {
    let refused = |manager: &str, setup| managers::build(manager, setup).err().unwrap();
    let flat = || setup(Layout::Flat);
    match refused("dax:regions=4", flat()) {
        Error::UnknownName(unknown) => {
            assert_eq!((&*unknown.what, &*unknown.name), ("block manager", "dax"));
            assert_eq!(unknown.nearest(), Some("dac"));
            assert!(unknown.valid.iter().any(|known| known == "sepgc"));
        }
        other => panic!("{other:?}"),
    }
    match refused("dac:region=4", flat()) {
        Error::UnknownName(unknown) => assert_eq!(unknown.what, "parameter of block manager dac"),
        other => panic!("{other:?}"),
    }
    match refused("single", flat().victims("d-choices:d=0")) {
        Error::OutOfDomain(wrong) => {
            assert_eq!(wrong.entry.as_deref(), Some("d-choices"));
            assert_eq!((&*wrong.name, &*wrong.value), ("d", "0"));
            assert_eq!(wrong.domain, "a whole number from 1 to 65536");
        }
        other => panic!("{other:?}"),
    }
    assert!(matches!(refused("dac:regions", flat()), Error::Spec(_)));
    assert!(matches!(refused("single", flat().op(0.0)), Error::Geometry(_)));
    assert!(matches!(Layout::named("flatt"), Err(Error::UnknownName(_))));
    let mut drive = own(Layout::Flat, "greedy");
    let error = drive.write(&[1500], None);
    assert_eq!(error, Err(Error::OffTheEnd { page: 1500, logical_pages: 1500 }));
}
