//! Declaration of a block manager, read before it is built.
//! It states the supported layouts and victim policies, and the blocks and hints needed.

use super::{Layout, Setup};
use crate::error::{Error, Result};
use crate::flash::{Geometry, Wear};
use crate::hints::RequiredHints;
use crate::leveling;
use crate::victims::VICTIMS;

/// Layouts or victim policies that a manager supports, with the reason why it supports no
/// others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Only<T: 'static> {
    /// Supported layouts, or names of supported victim policies.
    pub these: &'static [T],
    /// Reason why others are not supported. It follows the manager's name in the error message.
    pub because: &'static str,
}

/// Supported layouts and victim policies of a manager, and the blocks and hints it needs.
/// They apply to the manager with the parameters of one spec (its name and parameters).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declared {
    /// Supported layouts; all if `None`.
    pub layouts: Option<Only<Layout>>,
    /// Names of the supported victim policies; all if `None`.
    pub victims: Option<Only<&'static str>>,
    /// Spec of the manager's default victim policy.
    pub default_victims: String,
    /// Parameter of the default victim policy.
    /// A spec may not combine it with another victim policy.
    pub shapes_victims: Option<&'static str>,
    /// Kind of hint that the host must provide.
    pub required_hints: RequiredHints,
    /// Number of placement handles; 0 if the manager has none.
    pub handles: u8,
    /// Bytes of a reclaim unit that the drive must have, or None if any size is possible.
    pub reclaim_unit_bytes: Option<u64>,
    /// Blocks that the manager keeps open or free.
    pub needs: Needs,
    /// True for placements, which all share the generic manager.
    pub is_placement: bool,
    /// True if the manager stores data about each block.
    /// A wear leveller that moves the pages of a block must then report the move.
    pub remembers_blocks: bool,
}

/// Blocks of each pool that a manager keeps open or free at any time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Needs {
    /// Fewest write frontiers with which the manager works. It uses more if the drive has room.
    pub fewest_streams: u32,
    /// Number of write frontiers on a drive that has room for all of them.
    pub most_streams: u32,
    /// Free blocks reserved in addition to the one that a collection erases.
    pub reserve_blocks: u32,
}

impl Needs {
    /// Needs of a manager with this number of write frontiers on any drive.
    pub fn streams(streams: u32) -> Self {
        Needs { fewest_streams: streams, most_streams: streams, reserve_blocks: 0 }
    }

    /// Needs of this manager and of a mapping table on the flash, if `has_table`.
    /// Blocks of the table hold no data of the host. A collection moves either pages of the table
    /// or pages of data, so the table needs no further reserved blocks.
    pub(super) fn beside(self, has_table: bool) -> Self {
        let more = u32::from(has_table);
        Needs {
            fewest_streams: self.fewest_streams + more,
            most_streams: self.most_streams + more,
            ..self
        }
    }
}

impl Declared {
    /// Declaration of a manager that supports every layout and victim policy and requires no
    /// hints.
    pub fn of(needs: Needs) -> Self {
        Declared {
            layouts: None,
            victims: None,
            default_victims: "greedy".into(),
            shapes_victims: None,
            required_hints: RequiredHints::Nothing,
            handles: 0,
            reclaim_unit_bytes: None,
            needs,
            is_placement: false,
            remembers_blocks: true,
        }
    }

    /// Layouts that the manager supports.
    pub fn layouts(&self) -> &'static [Layout] {
        self.layouts.map_or(&Layout::ALL, |only| only.these)
    }

    /// Names of the supported victim policies.
    pub fn victims(&self) -> Vec<&'static str> {
        let any = || VICTIMS.entries.iter().map(|entry| entry.name).collect();
        self.victims.map_or_else(any, |only| only.these.to_vec())
    }

    /// Checks that the manager `name` supports a victim policy and a layout.
    pub(super) fn check_served(&self, name: &str, victims: &str, layout: Layout) -> Result<()> {
        if let Some(Only { these, because }) = self.victims
            && !these.contains(&victims)
        {
            return Err(Error::Spec(format!(
                "{name} does not support the victim policy '{victims}': it {because}; valid: {}",
                these.join(", ")
            )));
        }
        if let Some(Only { these, because }) = self.layouts
            && !these.contains(&layout)
        {
            return Err(Error::Geometry(format!(
                "{name} {because}; valid layouts: {}",
                these.iter().map(|layout| layout.name()).collect::<Vec<_>>().join(", ")
            )));
        }
        Ok(())
    }

    /// Checks that the drive has the reclaim units of the manager `name`, and that it counts
    /// operations by handle only if the manager has handles.
    pub(super) fn check_handles(&self, name: &str, setup: &Setup) -> Result<()> {
        let geometry = &setup.geometry;
        let own_bytes = u64::from(geometry.pages_per_block()) * u64::from(geometry.page_bytes());
        if let Some(bytes) = self.reclaim_unit_bytes
            && bytes != own_bytes
        {
            return Err(Error::Geometry(format!(
                "{name}: a reclaim unit has {bytes} bytes, but an erase unit of the drive has \
                 {own_bytes}; they must be equal"
            )));
        }
        if setup.counts_handles && self.handles == 0 {
            return Err(Error::Spec(format!("{name} has no placement handles to count by")));
        }
        if setup.counts_handles && setup.tags.is_some() {
            return Err(Error::Spec(format!(
                "{name} cannot count by placement handles and by the host's tags at once"
            )));
        }
        Ok(())
    }

    /// Checks that the drive of a setup is large enough for the manager `name`.
    pub(super) fn check_room(&self, name: &str, setup: &Setup) -> Result<()> {
        let leveler_blocks = leveling::reserve_blocks(setup.wear_leveling.as_deref())?;
        let Setup { geometry, layout, wear, logical_pages, table_pages, .. } = setup;
        if table_pages > logical_pages {
            return Err(Error::Geometry(format!(
                "the mapping table has {table_pages} pages; it must have at most the drive's \
                 {logical_pages} logical pages"
            )));
        }
        let has_table = self.is_placement && setup.table_first_page().is_some();
        let with_table = Declared { needs: self.needs.beside(has_table), ..self.clone() };
        with_table.check_size(name, geometry, (*layout, *wear), *logical_pages, leveler_blocks)
    }

    /// Checks that the drive is large enough for the manager `name`.
    /// A wear leveller reserves `leveler_blocks` blocks of each pool.
    fn check_size(
        &self,
        name: &str,
        geometry: &Geometry,
        (layout, wear): (Layout, Wear),
        logical_pages: u32,
        leveler_blocks: u32,
    ) -> Result<()> {
        let pools = layout.pools();
        let usable_blocks = u64::from(pools.usable_blocks(geometry, wear)?);
        let pools = u64::from(pools.count(geometry));
        let frontiers = pools * u64::from(self.needs.fewest_streams);
        if usable_blocks <= frontiers {
            return Err(Error::Geometry(format!(
                "{name} keeps {frontiers} block(s) open, but the drive has {usable_blocks} \
                 block(s){}; it needs at least {}",
                if usable_blocks < u64::from(geometry.blocks()) {
                    " that are not spare"
                } else {
                    ""
                },
                frontiers + 1
            )));
        }
        // In the worst case for collection, all invalid pages are in open blocks, which no policy
        // may choose. The drive needs one more spare page, so that a closed block has an invalid
        // page.
        let reserved_blocks = u64::from(self.needs.reserve_blocks) + u64::from(leveler_blocks);
        let pages_per_block = u64::from(geometry.pages_per_block());
        let tied_up = (frontiers - pools + pools * reserved_blocks) * pages_per_block;
        let usable_pages = usable_blocks * pages_per_block;
        let logical_pages = u64::from(logical_pages);
        let spare = usable_pages.saturating_sub(logical_pages);
        let too_small = |spare: u64, on_each: &str, tied_up: u64| {
            Err(Error::Geometry(format!(
                "the drive is too small for {name}: it has {spare} spare pages{on_each}, but open \
                 and reserved blocks can occupy {tied_up}; use a larger op, more blocks or fewer \
                 pages per block"
            )))
        };
        if spare <= tied_up && spare > 0 {
            return too_small(spare, "", tied_up);
        }
        // With static allocation, each LUN must have enough spare pages for itself, because it
        // cannot use another LUN's space. So the fullest LUN is checked.
        if layout == Layout::Static && spare > 0 {
            let spare = (usable_pages / pools).saturating_sub(logical_pages.div_ceil(pools));
            if spare <= tied_up / pools {
                return too_small(spare, " on the fullest LUN", tied_up / pools);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flash::{EraseUnit, Shape};
    use crate::managers::MANAGERS;
    use crate::managers::{Setup, build, check};
    use crate::registry::Entry;

    fn setup(layout: Layout, logical_pages: u32) -> Setup {
        let shape = Shape {
            channels: 2,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 1,
            blocks_per_plane: 16,
            pages_per_block: 4,
            page_bytes: 4096,
            erase_unit: EraseUnit::Block,
        };
        Setup { logical_pages, layout, ..Setup::new(Geometry::new(shape).unwrap()) }
    }

    #[test]
    fn what_is_declared_is_what_is_built_and_what_is_not_is_refused() {
        for spec in MANAGERS.entries.iter().flat_map(Entry::small_specs) {
            for layout in Layout::ALL {
                let serves = declared(spec).layouts().contains(&layout);
                for logical_pages in (4..124).step_by(8) {
                    let setup = || setup(layout, logical_pages);
                    let (checked, built) = (check(spec, &setup()), build(spec, setup()));
                    assert_eq!(checked.is_ok(), built.is_ok(), "{spec}, {layout:?}");
                    match (checked, built) {
                        (Ok(declared), Ok(drive)) => {
                            assert!(serves, "{spec}, {layout:?}");
                            assert_eq!(drive.required_hints(), declared.required_hints, "{spec}");
                        }
                        (Err(first), Err(second)) => assert_eq!(first, second, "{spec}"),
                        _ => unreachable!(),
                    }
                }
            }
        }
    }

    fn declared(spec: &str) -> Declared {
        crate::managers::declared(spec).unwrap()
    }

    #[test]
    fn the_smallest_drive_is_the_one_that_its_needs_name() {
        // On 32 blocks of 4 pages, 4 streams and 4 reserved blocks may tie up 3 + 3 blocks.
        let declared = declared("dac:regions=4");
        let needs = Needs { fewest_streams: 4, most_streams: 4, reserve_blocks: 3 };
        assert_eq!(declared.needs, needs);
        assert!(check("dac:regions=4", &setup(Layout::Flat, 128 - 24 - 1)).is_ok());
        let error = check("dac:regions=4", &setup(Layout::Flat, 128 - 24)).unwrap_err();
        let sentence = "the drive is too small for dac: it has 24 spare pages, but open and reserved \
                        blocks can occupy 24; ";
        assert!(error.to_string().starts_with(sentence), "{error}");
    }

    #[test]
    fn each_lun_of_a_static_layout_has_room_for_its_own_pages() {
        // On two LUNs of 64 pages, 127 logical pages leave one spare page. It is not on the LUN of
        // page 0.
        let layout = Layout::Static;
        assert!(check("single", &setup(layout, 126)).is_ok());
        let error = check("single", &setup(layout, 127)).unwrap_err().to_string();
        let sentence = "the drive is too small for single: it has 0 spare pages on the fullest LUN, \
                        but open and reserved blocks can occupy 0; ";
        assert!(error.starts_with(sentence), "{error}");
        // On each LUN, 4 streams and 4 reserved blocks may tie up 3 + 3 of its blocks.
        assert!(check("dac:regions=4", &setup(layout, 2 * (64 - 24) - 2)).is_ok());
        assert!(check("dac:regions=4", &setup(layout, 2 * (64 - 24) - 1)).is_err());
    }
}
