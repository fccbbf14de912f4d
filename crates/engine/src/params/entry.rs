//! Registry entries: name, summary, parameters and examples.

use super::Param;

/// Pairs of block managers and victim policies: each manager with each policy.
///
/// Each pair is a candidate: a kind of drive that `writeamp twin fit` simulates and compares
/// with measurements. Pairs that differ only in parameters form a family.
#[derive(Debug, Clone, Copy)]
pub struct Pairs {
    /// Specs (texts with name and parameters) of block managers.
    pub managers: &'static [&'static str],
    /// Specs of victim policies, in which `{0.1 blocks}` means a tenth of the drive's blocks.
    pub victims: &'static [&'static str],
    /// True if `writeamp twin fit` also tries these pairs when only a single WA was measured.
    pub are_usual: bool,
}

impl Pairs {
    /// Pairs of block manager and victim policy that many real drives may have.
    pub const fn usual(
        managers: &'static [&'static str],
        victims: &'static [&'static str],
    ) -> Self {
        Pairs { managers, victims, are_usual: true }
    }

    /// Pairs that are rare in real drives.
    /// They are not tried when only a single WA was measured, which is too little evidence for
    /// them.
    pub const fn rare(managers: &'static [&'static str], victims: &'static [&'static str]) -> Self {
        Pairs { managers, victims, are_usual: false }
    }
}

/// Registry entry: a policy or workload that specs can name.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Name, with which a spec begins.
    pub name: &'static str,
    /// Summary of the entry in a sentence, as `writeamp list` shows it.
    pub summary: &'static str,
    /// Parameters of the entry itself.
    pub params: &'static [Param],
    /// Parameters that all entries of this kind have (such as all workloads).
    /// They may be set only in a spec that is not nested. In a nested spec only their default
    /// values are valid. At their defaults they are omitted from the canonical form.
    pub common: &'static [Param],
    /// True if a spec of the entry cannot be nested in another.
    pub is_alone: bool,
    /// Complete spec, shown by help and built by most tests.
    pub example: &'static str,
    /// Complete spec for tests on small drives: a small drive has room for it, and its parameters
    /// affect the results.
    pub small: &'static str,
    /// Further specs for the conformance tests: edge cases, and specs that affect small drives.
    pub variants: &'static [&'static str],
    /// Pairs with this entry that `writeamp twin fit` considers.
    pub candidates: &'static [Pairs],
}

impl Entry {
    /// Builds an entry without parameters.
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

    /// Sets the parameters. If one of them is required, an example must be set too.
    #[must_use]
    pub const fn params(mut self, params: &'static [Param]) -> Self {
        self.params = params;
        self
    }

    /// Sets the common parameters, for a whole spec.
    #[must_use]
    pub const fn common(mut self, params: &'static [Param]) -> Self {
        self.common = params;
        self
    }

    /// All parameters, beginning with the entry's own.
    pub fn all_params(&self) -> impl Iterator<Item = &'static Param> + use<> {
        self.params.iter().chain(self.common)
    }

    /// True for a common parameter, which may be set only in a spec that is not nested.
    pub(crate) fn is_common(&self, param: &Param) -> bool {
        self.common.iter().any(|common| common.name == param.name)
    }

    /// Marks the entry as one that cannot be nested.
    #[must_use]
    pub const fn alone(mut self) -> Self {
        self.is_alone = true;
        self
    }

    /// Sets an example with parameters.
    #[must_use]
    pub const fn example(mut self, spec: &'static str) -> Self {
        self.example = spec;
        self.small = spec;
        self
    }

    /// Sets a spec for small drives, if these have no room for the example.
    #[must_use]
    pub const fn small(mut self, spec: &'static str) -> Self {
        self.small = spec;
        self
    }

    /// Sets further specs for tests.
    #[must_use]
    pub const fn variants(mut self, specs: &'static [&'static str]) -> Self {
        self.variants = specs;
        self
    }

    /// Sets the pairs that `writeamp twin fit` considers.
    #[must_use]
    pub const fn candidates(mut self, pairs: &'static [Pairs]) -> Self {
        self.candidates = pairs;
        self
    }

    /// All specs that the conformance tests build on small drives.
    pub fn small_specs(&self) -> impl Iterator<Item = &'static str> + use<> {
        std::iter::once(self.small).chain(self.variants.iter().copied())
    }
}
