//! Entries of registries: a name, a summary, and what can be asked of it.

use super::Param;

/// Pairs of a block manager and a victim policy: every one of some with every one of others.
///
/// Each pair is a candidate: a kind of drive that `writeamp twin fit` simulates and weighs. Pairs
/// with the same two names are a family.
#[derive(Debug, Clone, Copy)]
pub struct Pairs {
    /// Specs of block managers.
    pub managers: &'static [&'static str],
    /// Specs of victim policies, in which `{0.1 blocks}` is a tenth of the drive's blocks.
    pub victims: &'static [&'static str],
    /// True if they are also candidates where a single WA is all that was measured.
    pub are_usual: bool,
}

impl Pairs {
    /// Pairs that many drives have.
    pub const fn usual(
        managers: &'static [&'static str],
        victims: &'static [&'static str],
    ) -> Self {
        Pairs { managers, victims, are_usual: true }
    }

    /// Pairs that few drives have: a single WA is too little evidence for them.
    pub const fn rare(managers: &'static [&'static str], victims: &'static [&'static str]) -> Self {
        Pairs { managers, victims, are_usual: false }
    }
}

/// An entry of a registry, as it describes itself.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Name that a spec begins with.
    pub name: &'static str,
    /// Summary of one sentence.
    pub summary: &'static str,
    /// Parameters of its own.
    pub params: &'static [Param],
    /// Parameters that all entries of its kind have, and others that are for a whole spec too.
    /// Inside another one they may have their defaults only, and at these they are left out of the
    /// canonical form.
    pub common: &'static [Param],
    /// True if a spec of it cannot stand inside another one.
    pub is_alone: bool,
    /// A complete spec, as help shows it and most tests build it.
    pub example: &'static str,
    /// A complete spec that small drives have room for, and that they feel.
    pub small: &'static str,
    /// Further specs that the conformance tests build: the edges, and what small drives feel.
    pub variants: &'static [&'static str],
    /// Pairs with it that `writeamp twin fit` weighs.
    pub candidates: &'static [Pairs],
}

impl Entry {
    /// An entry without parameters.
    pub const fn new(name: &'static str, summary: &'static str) -> Self {
        Entry {
            name,
            summary,
            params: &[],
            common: &[],
            is_alone: false,
            example: name,
            small: name,
            variants: &[],
            candidates: &[],
        }
    }

    /// The entry with parameters, all of them optional unless an example follows.
    #[must_use]
    pub const fn params(mut self, params: &'static [Param]) -> Self {
        self.params = params;
        self
    }

    /// The entry with the parameters of its kind, and others for a whole spec.
    #[must_use]
    pub const fn common(mut self, params: &'static [Param]) -> Self {
        self.common = params;
        self
    }

    /// All parameters, its own first.
    pub fn all_params(&self) -> impl Iterator<Item = &'static Param> + use<> {
        self.params.iter().chain(self.common)
    }

    /// True of a parameter that is for a whole spec.
    pub(crate) fn is_common(&self, param: &Param) -> bool {
        self.common.iter().any(|common| common.name == param.name)
    }

    /// The entry as one that is no part of another.
    #[must_use]
    pub const fn alone(mut self) -> Self {
        self.is_alone = true;
        self
    }

    /// The entry with an example of its parameters.
    #[must_use]
    pub const fn example(mut self, spec: &'static str) -> Self {
        self.example = spec;
        self.small = spec;
        self
    }

    /// The entry with a spec for small drives, where these have no room for the example.
    #[must_use]
    pub const fn small(mut self, spec: &'static str) -> Self {
        self.small = spec;
        self
    }

    /// The entry with further specs to test.
    #[must_use]
    pub const fn variants(mut self, specs: &'static [&'static str]) -> Self {
        self.variants = specs;
        self
    }

    /// The entry with pairs that `writeamp twin fit` weighs.
    #[must_use]
    pub const fn candidates(mut self, pairs: &'static [Pairs]) -> Self {
        self.candidates = pairs;
        self
    }

    /// Every spec that the conformance tests build on small drives.
    pub fn small_specs(&self) -> impl Iterator<Item = &'static str> + use<> {
        std::iter::once(self.small).chain(self.variants.iter().copied())
    }
}
