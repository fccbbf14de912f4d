//! Setup of a drive: the shape, sizes, policies, seed and wear that it is built from.

use std::sync::Arc;

use super::{Declared, Layout, MANAGERS, declared, generic};
use crate::error::Result;
use crate::flash::{Flash, Geometry, Tap, Wear};
use crate::leveling::WEAR_LEVELERS;
use crate::placements::{PlacementSource, Sizes};
use crate::registry::Registry;
use crate::rng::Stream;
use crate::state::Identity;
use crate::victims::{self, VICTIMS, VictimSource};

/// Custom policies of a drive, which no registry knows; none by default.
#[derive(Debug, Clone, Default)]
pub struct CustomPolicies {
    /// The placement, in the place of the block manager.
    pub placement: Option<Arc<dyn PlacementSource>>,
    /// The victim policy.
    pub victims: Option<Arc<dyn VictimSource>>,
}

/// Setup that every manager is built from.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Shape of the drive.
    pub geometry: Geometry,
    /// Pages that the host sees.
    pub logical_pages: u32,
    /// Last of the logical pages, which hold the mapping table; 0 if there are none.
    /// They get frontiers of their own from placements on drives that are timed.
    pub table_pages: u32,
    /// Layout of streams and collection over the LUNs.
    pub layout: Layout,
    /// The spec of the victim policy, or `None` for the manager's own.
    pub victims: Option<String>,
    /// The spec of the wear leveller, if there is one.
    pub wear_leveling: Option<String>,
    /// Seed of the random streams of policies.
    pub seed: u64,
    /// Wear that the blocks stand.
    pub wear: Wear,
    /// Custom policies: their names stand where specs would.
    pub custom: CustomPolicies,
}

/// The pages that an op leaves to the host, halves to even as Python rounds them.
fn logical_pages(geometry: &Geometry, op: f64) -> u32 {
    (f64::from(geometry.physical_pages()) / (1.0 + op)).round_ties_even() as u32
}

/// The form that all spellings of a spec share.
fn canonical(registry: &Registry, spec: &str) -> Result<String> {
    Ok(registry.read(spec)?.canonical())
}

impl Setup {
    /// The share of spare pages if none is asked for: (T−U)/U.
    pub const OP: f64 = 0.28;

    /// A flat drive of that shape with the default op.
    ///
    /// Its blocks do not wear out, and the victim policy is the manager's own.
    pub fn new(geometry: Geometry) -> Self {
        Setup {
            geometry,
            logical_pages: logical_pages(&geometry, Self::OP),
            table_pages: 0,
            layout: Layout::Flat,
            victims: None,
            wear_leveling: None,
            seed: 1,
            wear: Wear::default(),
            custom: CustomPolicies::default(),
        }
    }

    /// Sets the pages that the host sees to those that such an op leaves.
    ///
    /// They are rounded as the command line does.
    /// An op that leaves none, or none spare, is refused when a manager is built.
    #[must_use]
    pub fn op(self, op: f64) -> Self {
        let logical_pages = logical_pages(&self.geometry, op);
        Setup { logical_pages, ..self }
    }

    /// Sets the pages that the host sees.
    #[must_use]
    pub fn logical_pages(self, logical_pages: u32) -> Self {
        Setup { logical_pages, ..self }
    }

    /// Sets how many of the logical pages, the last of them, hold the mapping table.
    #[must_use]
    pub fn table_pages(self, table_pages: u32) -> Self {
        Setup { table_pages, ..self }
    }

    /// Sets the layout of streams and collection over the LUNs.
    #[must_use]
    pub fn layout(self, layout: Layout) -> Self {
        Setup { layout, ..self }
    }

    /// Sets the spec of the victim policy, in the place of the manager's own.
    #[must_use]
    pub fn victims(self, spec: impl Into<String>) -> Self {
        Setup { victims: Some(spec.into()), ..self }
    }

    /// Sets the spec of the wear leveller.
    #[must_use]
    pub fn wear_leveling(self, spec: impl Into<String>) -> Self {
        Setup { wear_leveling: Some(spec.into()), ..self }
    }

    /// Sets the seed of the random streams of policies.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Setup { seed, ..self }
    }

    /// Sets the wear that the blocks stand.
    #[must_use]
    pub fn wear(self, wear: Wear) -> Self {
        Setup { wear, ..self }
    }

    /// Sets policies that no registry knows.
    #[must_use]
    pub fn custom(self, custom: CustomPolicies) -> Self {
        Setup { custom, ..self }
    }

    /// The sizes of the drive, which a placement is built for.
    pub fn sizes(&self) -> Sizes {
        let Setup { geometry, layout, .. } = self;
        Sizes {
            logical_pages: self.logical_pages,
            blocks: geometry.blocks(),
            pages_per_block: geometry.pages_per_block(),
            domains: layout.domains(geometry),
            pools: layout.pools().count(geometry),
            seed: self.seed,
        }
    }

    /// Builds the flash array.
    pub(super) fn flash<T: Tap>(&self, tap: T) -> Result<Flash<T>> {
        let Setup { geometry, logical_pages, layout, wear, .. } = *self;
        Flash::with_tap(geometry, logical_pages, layout.pools(), wear, tap)
    }

    /// The first of the pages of the mapping table that lie apart from data, if there are any.
    pub(super) fn table_first_page(&self) -> Option<u32> {
        (self.table_pages > 0).then(|| self.logical_pages - self.table_pages)
    }

    /// Declaration of the manager: the one that `text` names, unless it is a custom one.
    pub(super) fn declared(&self, text: &str) -> Result<Declared> {
        match &self.custom.placement {
            Some(source) => Ok(generic::custom_declared(&**source)),
            None => declared(text),
        }
    }

    /// The spec of the victim policy, or the name of a custom one.
    pub(super) fn victims_of(&self, declared: &Declared) -> String {
        let own = || declared.default_victims.clone();
        match &self.custom.victims {
            Some(source) => source.name().to_owned(),
            None => self.victims.clone().unwrap_or_else(own),
        }
    }

    pub(super) fn random(&self, name: &str) -> Stream {
        Stream::new(self.seed, name)
    }

    /// Everything that decides what a drive is, under the manager that `text` names.
    pub(super) fn identity(&self, text: &str) -> Result<Identity> {
        let manager = match &self.custom.placement {
            Some(source) => source.name().to_owned(),
            None => canonical(&MANAGERS, text)?,
        };
        let victims = match &self.custom.victims {
            Some(source) => source.name().to_owned(),
            None => canonical(&VICTIMS, &self.victims_of(&self.declared(text)?))?,
        };
        self.identity_of(manager, victims)
    }

    /// Identity of the drive under a block manager and a victim policy of such names.
    pub(super) fn identity_of(&self, manager: String, victims: String) -> Result<Identity> {
        let Setup {
            geometry, logical_pages, table_pages, layout, wear_leveling, seed, wear, ..
        } = self;
        let leveler = |spec: &String| canonical(&WEAR_LEVELERS, spec);
        let identity = Identity::default()
            .with("block manager", manager)
            .with("victim policy", victims)
            .with("wear leveller", wear_leveling.as_ref().map_or(Ok("none".into()), leveler)?)
            .with("geometry", format!("{geometry:?}"))
            .with("number of logical pages", logical_pages.to_string())
            .with("layout", format!("{layout:?}"))
            .with("wear", format!("{wear:?}"))
            .with("seed", seed.to_string());
        // Drives of earlier builds, which had none of these frontiers, are the same without them.
        Ok(match table_pages {
            0 => identity,
            pages => identity.with("number of pages of the mapping table", pages.to_string()),
        })
    }

    /// The custom victim policy, if the drive works by one.
    pub(super) fn custom_victims(&self) -> Result<Option<victims::CustomVictims>> {
        let Setup { geometry, logical_pages, seed, .. } = self;
        let build = |source: &Arc<dyn VictimSource>| {
            let calls = source.build(geometry, *logical_pages, *seed)?;
            victims::CustomVictims::new(source.name(), calls, geometry)
        };
        self.custom.victims.as_ref().map(build).transpose()
    }
}
