//! Setup of a drive: its shape, sizes, policies, seed and wear.

use std::sync::Arc;

use super::own_stream::{self, OwnPages};
use super::{Declared, Layout, MANAGERS, declared, generic};
use crate::error::Result;
use crate::flash::{Flash, Geometry, Tap, Wear};
use crate::leveling::WEAR_LEVELERS;
use crate::placements::{PlacementSource, Sizes};
use crate::registry::Registry;
use crate::rng::Stream;
use crate::state::Identity;
use crate::victims::{self, VICTIMS, VictimSource};

/// Custom policies of a drive, which are not in a registry. The default has no custom policy.
#[derive(Debug, Clone, Default)]
pub struct CustomPolicies {
    /// Placement, which replaces the block manager.
    pub placement: Option<Arc<dyn PlacementSource>>,
    /// Custom victim policy.
    pub victims: Option<Arc<dyn VictimSource>>,
    /// Pages that a registered placement writes to a stream of their own.
    pub own_pages: Option<OwnPages>,
}

/// Setup that every manager is built from.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Shape of the drive.
    pub geometry: Geometry,
    /// Number of logical pages, which are visible to the host.
    pub logical_pages: u32,
    /// Number of the last logical pages that hold the mapping table; 0 if it is not on the flash.
    /// On drives with timing, placements write these pages to separate frontiers.
    pub table_pages: u32,
    /// Layout of streams and collection over the LUNs.
    pub layout: Layout,
    /// Spec of the victim policy, or None for the manager's default.
    pub victims: Option<String>,
    /// Spec of the wear leveller, if any.
    pub wear_leveling: Option<String>,
    /// Seed of the policies' random streams.
    pub seed: u64,
    /// Wear limits of the blocks.
    pub wear: Wear,
    /// Custom policies. Their names replace specs.
    pub custom: CustomPolicies,
    /// Number of the host's tags, or None if operations are not counted by tag.
    pub tags: Option<u8>,
    /// True if operations are counted by the manager's placement handles, in place of tags.
    pub counts_handles: bool,
}

/// Logical pages at over-provisioning `op`. Halves are rounded to even, as in Python.
fn logical_pages(geometry: &Geometry, op: f64) -> u32 {
    (f64::from(geometry.physical_pages()) / (1.0 + op)).round_ties_even() as u32
}

/// Standard form of a spec (a name and parameters as text). Equal policies have equal forms.
fn canonical(registry: &Registry, spec: &str) -> Result<String> {
    Ok(registry.read(spec)?.canonical())
}

impl Setup {
    /// Default over-provisioning (T−U)/U, the spare pages over the logical pages.
    pub const OP: f64 = 0.28;

    /// Builds the setup of a flat drive with this geometry and the default op.
    ///
    /// Its blocks do not wear out, and the victim policy is the manager's default.
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
            tags: None,
            counts_handles: false,
        }
    }

    /// Sets the number of logical pages from the over-provisioning `op`.
    ///
    /// The number is rounded as on the command line. If no logical page or no spare page remains,
    /// building a manager fails.
    #[must_use]
    pub fn op(self, op: f64) -> Self {
        let logical_pages = logical_pages(&self.geometry, op);
        Setup { logical_pages, ..self }
    }

    /// Sets the number of logical pages.
    #[must_use]
    pub fn logical_pages(self, logical_pages: u32) -> Self {
        Setup { logical_pages, ..self }
    }

    /// Sets how many of the last logical pages hold the mapping table.
    #[must_use]
    pub fn table_pages(self, table_pages: u32) -> Self {
        Setup { table_pages, ..self }
    }

    /// Sets the layout of streams and collection over the LUNs.
    #[must_use]
    pub fn layout(self, layout: Layout) -> Self {
        Setup { layout, ..self }
    }

    /// Sets the spec of the victim policy, which replaces the manager's default.
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

    /// Sets the wear limits of the blocks.
    #[must_use]
    pub fn wear(self, wear: Wear) -> Self {
        Setup { wear, ..self }
    }

    /// Sets the custom policies.
    #[must_use]
    pub fn custom(self, custom: CustomPolicies) -> Self {
        Setup { custom, ..self }
    }

    /// Counts flash operations by the host's tags, of which there are `tags`.
    #[must_use]
    pub fn tags(self, tags: u8) -> Self {
        Setup { tags: Some(tags), ..self }
    }

    /// Counts flash operations by the manager's placement handles.
    #[must_use]
    pub fn count_handles(self) -> Self {
        Setup { counts_handles: true, ..self }
    }

    /// Sizes of the drive that a placement may use when it is built.
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

    /// Builds the flash array of the drive.
    pub(super) fn flash<T: Tap>(&self, tap: T) -> Result<Flash<T>> {
        let Setup { geometry, logical_pages, layout, wear, tags, .. } = *self;
        let mut flash = Flash::with_tap(geometry, logical_pages, layout.pools(), wear, tap)?;
        if let Some(tags) = tags {
            flash.count_tags(tags)?;
        }
        Ok(flash)
    }

    /// First logical page of the mapping table if the table has its own frontiers, else None.
    pub(super) fn table_first_page(&self) -> Option<u32> {
        (self.table_pages > 0).then(|| self.logical_pages - self.table_pages)
    }

    /// Declaration of the manager: the custom placement, or else the one of spec `text`.
    pub(super) fn declared(&self, text: &str) -> Result<Declared> {
        match &self.custom.placement {
            Some(source) => Ok(generic::custom_declared(&**source)),
            None => declared(text),
        }
    }

    /// Spec of the victim policy, or the name of the custom victim policy.
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

    /// Identity of the drive with the manager of spec `text`: all settings that define it.
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

    /// Identity of the drive with a block manager and a victim policy of these names.
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
        let identity = match self.tags {
            None => identity,
            Some(tags) => identity.with("number of tags", tags.to_string()),
        };
        let identity = if self.counts_handles {
            identity.with("counters by handle", "true".to_owned())
        } else {
            identity
        };
        let own = self.custom.own_pages.as_deref().map(own_stream::identity);
        let identity = match own {
            None => identity,
            Some(pages) => identity.with("pages with an own stream", pages),
        };
        // This setting is left out if the table has no separate frontiers. Drives saved by earlier
        // versions, which had none, can therefore still be restored.
        Ok(match table_pages {
            0 => identity,
            pages => identity.with("number of pages of the mapping table", pages.to_string()),
        })
    }

    /// Custom victim policy, if the drive uses one.
    pub(super) fn custom_victims(&self) -> Result<Option<victims::CustomVictims>> {
        let Setup { geometry, logical_pages, seed, .. } = self;
        let build = |source: &Arc<dyn VictimSource>| {
            let calls = source.build(geometry, *logical_pages, *seed)?;
            victims::CustomVictims::new(source.name(), calls, geometry)
        };
        self.custom.victims.as_ref().map(build).transpose()
    }
}
