//! Assembly of a generic manager from a registered or custom placement.

use super::table::Apart;
use super::{Generic, Opened};
use crate::error::{Error, Result};
use crate::flash::{Tap, filled};
use crate::hints::RequiredHints;
use crate::managers::core::Core;
use crate::managers::{BlockManager, Compiled, Declared, Manager, Needs, Setup};
use crate::params::Params;
use crate::placements::custom::CustomPlacement;
use crate::placements::{Placement, PlacementSource, RegisteredPlacement, SelfDeclared};
use crate::placements::{Sizes, Streams};
use crate::registry::{Entry, Registered};
use crate::victims::{VictimPolicy, Visitor};

impl<P: RegisteredPlacement> Manager for P {
    const ENTRY: Entry = <P as Registered<Sizes>>::ENTRY;

    fn declared(params: &Params) -> Result<Declared> {
        Ok(Declared {
            default_victims: P::victims(params).into(),
            required_hints: P::required_hints(params),
            handles: P::handles(params),
            reclaim_unit_bytes: P::reclaim_unit_bytes(params),
            is_placement: true,
            remembers_blocks: P::USES_VICTIM,
            ..Declared::of(needs_of(P::streams(params)))
        })
    }

    fn build<T: Compiled>(
        params: &Params,
        victims: &str,
        setup: Setup,
        tap: T,
    ) -> Result<Box<dyn BlockManager>> {
        let Declared { required_hints, needs, .. } = P::declared(params)?;
        let placement = <P as Registered<Sizes>>::build(params, &setup.sizes())?;
        let name = <P as Manager>::ENTRY.name.to_owned();
        // The tags of the drive's data are the numbers of their handles.
        let tags = if setup.counts_handles { Some(P::handles(params)) } else { setup.tags };
        let setup = Setup { tags, ..setup };
        let site = setup.clone();
        T::with_policy(
            victims,
            &site,
            Assemble { name, placement, required_hints, needs, setup, tap },
        )
    }
}

/// Blocks that a manager with this number of streams keeps open or free.
fn needs_of(Streams { all, migration }: Streams) -> Needs {
    // Reserve of each pool: the pages of one victim may fill the frontiers of all streams for
    // migrated pages, and the erased victim replaces only one of these frontiers.
    Needs { reserve_blocks: migration as u32 - 1, ..Needs::streams(all as u32) }
}

/// Declaration of a custom placement before it is built; its needs are not known yet.
pub fn custom_declared(source: &dyn PlacementSource) -> Declared {
    Declared {
        default_victims: source.victims().to_owned(),
        required_hints: source.required_hints(),
        is_placement: true,
        ..Declared::of(Needs::streams(1))
    }
}

/// Builds the manager of a custom placement.
/// The combination is checked first. The size of the drive is checked once the placement has
/// declared its number of streams.
pub fn build_custom<T: Compiled>(
    source: &dyn PlacementSource,
    victims: &str,
    setup: Setup,
    tap: T,
) -> Result<Box<dyn BlockManager>> {
    let placement = CustomPlacement::new(source, &setup.sizes())?;
    let site = setup.clone();
    T::with_policy(victims, &site, self_declared(placement, setup, tap)?)
}

/// Builds the manager of a placement that declares itself, if the drive has room for it.
pub fn self_declared<P: SelfDeclared, T: Tap>(
    placement: P,
    setup: Setup,
    tap: T,
) -> Result<Assemble<P, T>> {
    const MOST: usize = 256;
    let (name, required_hints) = (placement.name(), placement.required_hints());
    let streams @ Streams { all, migration } = placement.streams();
    if !(1..=MOST).contains(&all) || !(1..=all).contains(&migration) {
        return Err(Error::Spec(format!(
            "{name} has {all} streams, {migration} of them for migrated pages; it must have 1 to \
             {MOST} streams, at least one of them for migrated pages"
        )));
    }
    let needs = needs_of(streams);
    Declared { is_placement: true, ..Declared::of(needs) }.check_room(&name, &setup)?;
    Ok(Assemble { name, placement, required_hints, needs, setup, tap })
}

/// Builds the generic manager once the victim policy is known.
pub struct Assemble<P, T> {
    name: String,
    placement: P,
    required_hints: RequiredHints,
    needs: Needs,
    setup: Setup,
    tap: T,
}

impl<P: Placement, T: Tap> Visitor for Assemble<P, T> {
    type Output = Box<dyn BlockManager>;

    fn visit<V: VictimPolicy>(self, policy: V) -> Result<Self::Output> {
        let Assemble { name, placement, required_hints, needs, setup, tap } = self;
        let is_consistent = P::USES_HOST_HINTS || required_hints == RequiredHints::Nothing;
        assert!(
            is_consistent,
            "{name} requires host hints, but its constant USES_HOST_HINTS is false; set it to true"
        );
        // The host's tags are placement hints, unless the drive counts operations by them.
        let required_hints = match required_hints {
            RequiredHints::Handles if setup.tags.is_some() && !setup.counts_handles => {
                RequiredHints::Groups
            }
            required_hints => required_hints,
        };
        let layout = setup.layout;
        let migrating = Vec::with_capacity(setup.geometry.pages_per_block() as usize);
        let apart = setup.table_first_page();
        let apart =
            apart.map(|first_page| Apart { first_page, stream: needs.most_streams as usize });
        if !T::IS_OPEN && apart.is_some() {
            return Err(Error::Spec(format!(
                "{name} has a mapping table on flash, which needs an observer; set table_pages to 0"
            )));
        }
        let needs = needs.beside(apart.is_some());
        let streams = needs.most_streams;
        if streams > 256 {
            return Err(Error::Spec(format!(
                "{name} has {} streams; beside a mapping table on flash it must have at most 255",
                streams - 1
            )));
        }
        let is_remembered = P::USES_VICTIM || apart.is_some();
        let remembered = if is_remembered { setup.geometry.blocks() as usize } else { 0 };
        let opened = filled(Opened::default(), remembered)?;
        let mut core = Core::new(policy, &setup, streams, needs.reserve_blocks, tap)?;
        if P::USES_WRITE_HISTORY {
            core.keep_history()?;
        }
        Ok(Box::new(Generic {
            name,
            core,
            placement,
            required_hints,
            needs,
            opened,
            next_pool: vec![0; streams as usize],
            layout,
            migrating,
            apart,
            counts_handles: setup.counts_handles,
        }))
    }
}
