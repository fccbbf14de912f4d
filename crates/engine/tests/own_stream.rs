//! An own stream for some pages: equal to placement handles; its blocks hold no other pages.

use std::sync::Arc;

use writeamp_engine::Result;
use writeamp_engine::flash::{Counters, Geometry};
use writeamp_engine::managers::{self, CustomPolicies, MANAGERS, OwnPages, Setup};
use writeamp_engine::simulation::Simulation;
use writeamp_engine::state::pack;
use writeamp_engine::workloads::{self, Context};

const PAGES_PER_BLOCK: u32 = 16;

fn own_pages(is_own: impl Fn(u32) -> bool) -> OwnPages {
    (0..setup(None).logical_pages).map(is_own).collect::<Vec<_>>().into()
}

fn setup(own_pages: Option<OwnPages>) -> Setup {
    let geometry = Geometry::flat(256, PAGES_PER_BLOCK).unwrap();
    Setup::new(geometry).op(0.3).custom(CustomPolicies { own_pages, ..CustomPolicies::default() })
}

fn run(manager: &str, setup: Setup) -> Result<Simulation> {
    let logical_pages = setup.logical_pages;
    let drive = managers::build(manager, setup)?;
    let workload = workloads::build("zipf:s=1", logical_pages, Context::root(3))?;
    let mut run = Simulation::new(drive, workload, 100)?;
    run.fill(0, logical_pages)?;
    run.run(10_000)?;
    run.drive_mut().trim(100..250)?;
    run.run(20_000)?;
    run.drive().assert_invariants();
    Ok(run)
}

fn counted(manager: &str, setup: Setup) -> Counters {
    *run(manager, setup).unwrap().counters()
}

#[test]
fn an_own_stream_beside_sepgc_equals_two_isolated_placement_handles() {
    let logical_pages = setup(None).logical_pages;
    let own = own_pages(|page| u64::from(page) * 2 / u64::from(logical_pages) == 1);
    let handles = "nvme-fdp:handles=2,isolation=persistent,by=range";
    assert_eq!(counted("sepgc", setup(Some(own))), counted(handles, setup(None)));
    assert_ne!(counted("sepgc", setup(None)), counted(handles, setup(None)));
}

#[test]
fn no_block_holds_pages_of_the_own_stream_and_other_pages() {
    let own = own_pages(|page| page % 3 == 0);
    for manager in ["single", "sepgc", "dac", "sepbit", "warcip", "multilog", "nvme-fdp:by=range"] {
        let run = run(manager, setup(Some(Arc::clone(&own)))).unwrap();
        let mut owners = vec![None; 256];
        for (logical, is_own) in own.iter().enumerate() {
            if let Some(physical) = run.drive().flash().physical(logical as u32) {
                let owner = &mut owners[(physical / PAGES_PER_BLOCK) as usize];
                assert_eq!(owner.get_or_insert(*is_own), is_own, "{manager}");
            }
        }
    }
}

#[test]
fn an_own_stream_without_pages_changes_only_the_streams_that_are_open() {
    let empty = counted("sepgc", setup(Some(own_pages(|_| false))));
    let without = counted("sepgc", setup(None));
    assert_eq!(empty.host, without.host);
    assert!((empty.erases as f64 / without.erases as f64 - 1.0).abs() < 0.1);
}

#[test]
fn a_manager_without_room_for_an_own_stream_is_refused_with_the_reason() {
    for entry in MANAGERS.entries {
        let own = Some(own_pages(|page| page < 9));
        let drive = managers::build(entry.name, setup(own));
        let Err(error) = drive else { continue };
        let words = format!("{} cannot have an own stream beside its streams, because", entry.name);
        assert!(error.to_string().contains(&words), "{error}");
    }
    let refused = |name: &str| managers::build(name, setup(Some(own_pages(|_| true)))).is_err();
    assert!(["hcwf", "wolf", "sfs", "midas", "two-region"].into_iter().all(refused));
    assert!(!["single", "sepgc", "sepbit", "oracle"].into_iter().any(refused));
}

#[test]
fn a_restored_run_goes_on_as_if_it_had_not_been_saved() {
    for manager in ["single", "dac", "multilog", "sepbit"] {
        let new = || setup(Some(own_pages(|page| page % 3 == 0)));
        let mut saved = run(manager, new()).unwrap();
        let mut restored = run(manager, new()).unwrap().restored(&pack(&saved)).unwrap();
        for run in [&mut saved, &mut restored] {
            run.run(3000).unwrap();
        }
        assert!(pack(&saved) == pack(&restored), "{manager}");
        let others = setup(Some(own_pages(|page| page % 3 == 1)));
        let error = run(manager, others).unwrap().restored(&pack(&saved)).err().unwrap();
        assert!(error.to_string().contains("pages with an own stream"), "{error}");
    }
}
