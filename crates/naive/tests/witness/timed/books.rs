//! Untimed drive behind the naive timed drive: a drive of the engine with a recorder.
//!
//! The timed tests compare times only; the other tests compare the flash operations.

use std::any::Any;
use std::ops::Range;

use writeamp_engine::flash::{Cause, FlashOp, Recorder};
use writeamp_engine::hints::{Group, Hints, NEVER, RequiredHints};
use writeamp_engine::managers::{self, BlockManager, Setup};
use writeamp_naive::timed::{Logical, LogicalOp, ProgramFor};

/// Returns a drive with a recorder, whose first pages are written before time 0.
pub fn filled_drive(
    manager: &str,
    setup: &Setup,
    pages: &[u32],
) -> Result<Box<dyn BlockManager>, writeamp_engine::Error> {
    let mut drive =
        managers::build_observed(manager, setup.clone(), Box::new(Recorder::default()))?;
    // These pages have no hints but their groups.
    let group_of: Vec<u8> = pages.iter().map(|&page| group_of(page) as u8).collect();
    write_hinted(&mut *drive, pages, (&GROUPS, &group_of), &vec![NEVER; pages.len()])?;
    Ok(drive)
}

/// Groups of pages of the host.
pub const GROUPS: [Group; 2] =
    [Group { pages: 90, write_share: 0.3 }, Group { pages: 10, write_share: 0.7 }];
/// The group with the highest write frequency, to which the mapping table belongs.
const HOTTEST: u8 = 1;

/// Returns the host's group of a page.
pub fn group_of(page: u32) -> u64 {
    u64::from(page) * 7 % 3 / 2
}

fn write_hinted(
    drive: &mut dyn BlockManager,
    pages: &[u32],
    (groups, group_of): (&[Group], &[u8]),
    times: &[u64],
) -> Result<(), writeamp_engine::Error> {
    let hints = match drive.required_hints() {
        RequiredHints::Nothing => None,
        RequiredHints::Groups | RequiredHints::Handles => {
            Some(Hints { groups, group_of, ..Hints::default() })
        }
        RequiredHints::InvalidationTimes => {
            Some(Hints { invalidation_times: times, ..Hints::default() })
        }
    };
    drive.write(pages, hints)
}

pub struct Books {
    pub drive: Box<dyn BlockManager>,
    host_pages: u32,
    /// True once the host has described its groups.
    names_groups: bool,
}

impl Books {
    pub fn new(mut drive: Box<dyn BlockManager>, host_pages: u32) -> Self {
        recorder(&mut *drive).is_on = true;
        Books { drive, host_pages, names_groups: false }
    }

    fn heard(&mut self) -> Vec<LogicalOp> {
        let ops = std::mem::take(&mut recorder(&mut *self.drive).ops);
        ops.into_iter().map(in_twins_words).collect()
    }
}

fn recorder(drive: &mut dyn BlockManager) -> &mut Recorder {
    let observer: &mut dyn Any = drive.observer_mut().expect("a drive with an observer");
    observer.downcast_mut().expect("a recorder")
}

fn in_twins_words(op: FlashOp) -> LogicalOp {
    match op {
        FlashOp::Read { page, .. } => LogicalOp::Read { page },
        FlashOp::Program { page, logical, cause, from, .. } => {
            let cause = match cause {
                Cause::Host => ProgramFor::Host,
                Cause::Gc => ProgramFor::Gc,
                Cause::WearLeveling => ProgramFor::WearLeveling,
                Cause::Padding => ProgramFor::Padding,
                Cause::Mapping => ProgramFor::Mapping,
                Cause::ReadModifyWrite | Cause::Refresh | Cause::Slc | Cause::Folding => {
                    unreachable!("a manager knows no such cause")
                }
            };
            LogicalOp::Program { page, logical, cause, from }
        }
        FlashOp::Erase { block, .. } => LogicalOp::Erase { block },
    }
}

impl Logical for Books {
    fn write(&mut self, page: u32, hint: Option<u64>) -> Vec<LogicalOp> {
        let now = self.drive.flash().counters().host.written_pages;
        let times = [hint.map_or(NEVER, |left| now.saturating_add(left))];
        let group_of = [hint.map_or(HOTTEST, |group| group as u8)];
        // A trim may change the table before the host has described its groups. All pages are then
        // one group.
        let all = [Group { pages: self.host_pages, write_share: 1.0 }];
        let (groups, group_of): (&[Group], _) =
            if self.names_groups { (&GROUPS, group_of) } else { (&all, [0]) };
        write_hinted(&mut *self.drive, &[page], (groups, &group_of), &times)
            .expect("a page of the drive");
        self.heard()
    }

    fn steer(&mut self, queues: &[usize]) {
        let queues: Vec<u32> = queues.iter().map(|&queue| queue as u32).collect();
        self.drive.steer(&queues);
    }

    fn note_hinted_write(&mut self) {
        self.names_groups = true;
    }

    fn trim(&mut self, pages: Range<u32>) {
        self.drive.trim(pages).expect("pages of the drive");
    }

    fn pad(&mut self, block: u32, unit_pages: u32) -> Option<Vec<LogicalOp>> {
        self.drive.pad(block, unit_pages).then(|| self.heard())
    }

    fn collect_idle(&mut self, lun: usize) -> Option<Vec<LogicalOp>> {
        self.drive.collect_idle(lun).expect("a LUN").then(|| self.heard())
    }

    fn collect_closed(&mut self, block: u32) -> Option<Vec<LogicalOp>> {
        self.drive.collect_closed(block).expect("a block").then(|| self.heard())
    }

    fn physical(&self, logical: u32) -> Option<u32> {
        self.drive.flash().physical(logical)
    }

    fn logical_at(&self, physical: u32) -> u32 {
        self.drive.flash().logical_at(physical)
    }

    fn free_blocks(&self, lun: usize) -> u32 {
        let flash = self.drive.flash();
        flash.free_blocks(if flash.pools() == 1 { 0 } else { lun })
    }

    fn pools(&self) -> usize {
        self.drive.flash().pools()
    }

    fn erases_of(&self, block: u32) -> u32 {
        self.drive.flash().erase_counts()[block as usize]
    }

    fn unmapped_pages(&self) -> u64 {
        self.drive.flash().counters().unmapped_pages
    }
}
