//! What a drive is built from.

use std::sync::Arc;

use super::{Declared, Layout, MANAGERS, declared, generic};
use crate::error::Result;
use crate::flash::{Flash, Geometry, Tap, Wear};
use crate::leveling::WEAR_LEVELERS;
use crate::placements::PlacementSource;
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

/// What every manager is built from.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Shape of the drive.
    pub geometry: Geometry,
    /// Pages that the host sees.
    pub logical_pages: u32,
    /// The last of the logical pages, which hold the mapping table and get frontiers of their own from
    /// placements on drives that are timed; 0 if there are none.
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

impl Setup {
    /// Builds the flash array.
    pub(super) fn flash<T: Tap>(&self, tap: T) -> Result<Flash<T>> {
        let Setup { geometry, logical_pages, layout, wear, .. } = *self;
        Flash::with_tap(geometry, logical_pages, layout.pools(), wear, tap)
    }

    /// The first of the pages of the mapping table that lie apart from data, if there are any.
    pub(super) fn table_first_page(&self) -> Option<u32> {
        (self.table_pages > 0).then(|| self.logical_pages - self.table_pages)
    }

    /// Declaration of the manager: that which `text` names, unless it is a custom one.
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
        let Setup {
            geometry, logical_pages, table_pages, layout, wear_leveling, seed, wear, ..
        } = self;
        let canonical = |registry: &Registry, spec: &str| Ok(registry.read(spec)?.canonical());
        let manager = match &self.custom.placement {
            Some(source) => source.name().to_owned(),
            None => canonical(&MANAGERS, text)?,
        };
        let victims = match &self.custom.victims {
            Some(source) => source.name().to_owned(),
            None => canonical(&VICTIMS, &self.victims_of(&self.declared(text)?))?,
        };
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
