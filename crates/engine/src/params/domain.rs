//! Domains of parameters: which values are valid, how they are described, and how values may
//! be spelled.

use std::fmt::{self, Display, Formatter};
use std::ops::Bound::{self, Excluded, Included, Unbounded};

use super::Specs;
use super::values::{bytes, integer, number, number_or_per_cent, whole};
use crate::error::Error;
use crate::spec::split;

/// Domain of a parameter: its valid values.
/// `Display` describes them, as in "a number from 0 to 1".
#[derive(Debug, Clone, Copy)]
pub enum Domain {
    /// Whole numbers from the first to the second value, both included.
    Whole(u64, u64),
    /// Numbers from one bound to the other.
    Number(Bound<f64>, Bound<f64>),
    /// One of several fixed words.
    Word(&'static [&'static str]),
    /// Sizes from the first to the second number of bytes, inclusive.
    Bytes(u64, u64),
    /// Spec of a registry's entry. It is a function because entries may refer to their own
    /// registry.
    Spec(fn() -> &'static dyn Specs),
    /// Values of one domain, separated by `/`.
    List(&'static Domain),
    /// Value of the first domain, or else of the second.
    Either(&'static Domain, &'static Domain),
}

impl Domain {
    /// Domain of shares: numbers from 0 to 1.
    pub const SHARE: Domain = Domain::Number(Included(0.0), Included(1.0));

    /// Domain of the number of blocks drawn for one victim.
    /// The upper limit bounds the time per victim. With that many draws, typically only one block
    /// in tens of thousands is better than the victim.
    pub const CHOICES: Domain = Domain::Whole(1, 1 << 16);

    /// Checks that `text` is in the domain, in a spec nested `depth` deep.
    /// If `text` names an invalid entry, the error contains the reason.
    pub(crate) fn check(&self, text: &str, depth: usize) -> std::result::Result<(), Option<Error>> {
        let is_valid = match self {
            Domain::Whole(least, most) => {
                integer(text).is_some_and(|value| (*least..=*most).contains(&value))
            }
            Domain::Number(least, most) => self.number(text).is_some_and(|value| {
                let is_above = match least {
                    Included(least) => value >= *least,
                    Excluded(least) => value > *least,
                    Unbounded => true,
                };
                let is_below = match most {
                    Included(most) => value <= *most,
                    Excluded(most) => value < *most,
                    Unbounded => true,
                };
                is_above && is_below
            }),
            Domain::Word(words) => words.contains(&text),
            Domain::Bytes(least, most) => {
                bytes(text).is_some_and(|value| (*least..=*most).contains(&value))
            }
            Domain::Spec(specs) => {
                specs().read_nested(text, depth + 1)?;
                true
            }
            Domain::List(of) => {
                let items = split(text, '/').unwrap_or_default();
                if let Some(wrong) = items.iter().find_map(|item| of.check(item, depth).err()) {
                    return Err(wrong);
                }
                !items.is_empty()
            }
            Domain::Either(first, second) => {
                return first.check(text, depth).or_else(|_| second.check(text, depth));
            }
        };
        if is_valid { Ok(()) } else { Err(None) }
    }

    /// Canonical form of a valid `text`, which is the same for all spellings of one value.
    /// Numbers are as short as exactly possible. Nested specs are in the form of
    /// [`super::Params::canonical`].
    pub fn canonical(&self, text: &str) -> String {
        let is_valid = |domain: &Domain| domain.check(text, 0).is_ok();
        match self {
            Domain::Whole(..) => whole::<u64>(text).to_string(),
            Domain::Number(..) => {
                number_or_per_cent(text).expect("the text was checked to be a number").to_string()
            }
            Domain::Word(_) => text.to_owned(),
            Domain::Bytes(..) => {
                bytes(text).expect("the text was checked to be a size").to_string()
            }
            Domain::Spec(specs) => {
                specs().read_nested(text, 0).expect("the text was checked to be a spec").canonical()
            }
            Domain::List(of) => {
                let items = split(text, '/').expect("the text was checked to be a list");
                items.into_iter().map(|item| of.canonical(item)).collect::<Vec<_>>().join("/")
            }
            Domain::Either(first, second) => {
                if is_valid(first) { first } else { second }.canonical(text)
            }
        }
    }

    /// Number that `text` states, if the domain has numbers. Shares may be given as percentages.
    pub(super) fn number(&self, text: &str) -> Option<f64> {
        if self.holds_shares() { number_or_per_cent(text) } else { number(text) }
    }

    /// True if the domain's numbers are shares or sums of shares, so that users may write
    /// percentages.
    pub(super) fn holds_shares(&self) -> bool {
        match self {
            Domain::Number(Included(least) | Excluded(least), Included(most) | Excluded(most)) => {
                *least >= 0.0 && *most <= 1.0
            }
            Domain::Number(Included(least), Unbounded) => *least == 0.0,
            Domain::List(of) => of.holds_shares(),
            Domain::Either(first, second) => first.holds_shares() || second.holds_shares(),
            _ => false,
        }
    }

    /// Invalid part of `text`: the first invalid item if it is a list, else the whole text.
    pub(super) fn culprit<'a>(&self, text: &'a str) -> &'a str {
        match self {
            Domain::List(of) => split(text, '/')
                .and_then(|items| items.into_iter().find(|item| of.check(item, 0).is_err()))
                .unwrap_or(text),
            Domain::Either(_, second) => second.culprit(text),
            _ => text,
        }
    }

    /// Description of the values in the plural: "numbers from 0 to 1".
    pub(super) fn plural(&self) -> String {
        match self {
            Domain::Whole(least, u64::MAX) if *least > 0 => {
                format!("whole numbers above {}", least - 1)
            }
            Domain::Whole(least, most) => format!("whole numbers from {least} to {most}"),
            Domain::Number(least, most) => format!("numbers{}", interval(*least, *most)),
            Domain::Word(words) => listed(words),
            Domain::Bytes(least, most) => format!("sizes{}", sizes(*least, *most)),
            Domain::Spec(specs) => specs().plural().to_owned(),
            Domain::List(of) => format!("lists of {}", of.plural()),
            Domain::Either(first, second) => format!("{} or {}", first.plural(), second.plural()),
        }
    }
}

impl Display for Domain {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Domain::Whole(least, most) => write!(f, "a whole number from {least} to {most}"),
            Domain::Number(least, most) => write!(f, "a number{}", interval(*least, *most)),
            Domain::Word(words) => write!(f, "{}", listed(words)),
            Domain::Bytes(least, most) => write!(f, "a size{}", sizes(*least, *most)),
            Domain::Spec(specs) => write!(f, "a {}", specs().noun()),
            Domain::List(of) => write!(f, "a list of {}, separated by '/'", of.plural()),
            Domain::Either(first, second) => write!(f, "{first} or {second}"),
        }
    }
}

/// Domain of shares, described in per cent for users who wrote a percentage.
pub(super) struct PerCent(pub(super) Domain);

impl Display for PerCent {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}, or per cent without a space, such as 15%", self.0)
    }
}

fn interval(least: Bound<f64>, most: Bound<f64>) -> String {
    if let (Included(least), Included(most)) = (least, most) {
        return format!(" from {least} to {most}");
    }
    let least = match least {
        Included(least) => format!(" of at least {least}"),
        Excluded(least) => format!(" above {least}"),
        Unbounded => String::new(),
    };
    let most = match most {
        Included(most) => format!(" at most {most}"),
        Excluded(most) => format!(" below {most}"),
        Unbounded => String::new(),
    };
    let and = if least.is_empty() || most.is_empty() { "" } else { " and" };
    format!("{least}{and}{most}")
}

fn sizes(least: u64, most: u64) -> String {
    format!(
        " from {least} to {most} bytes, as 512, 4k, 4KiB, 128K, 1M, 2MiB or 1GiB (k, K, Ki and KiB \
         are 1024; kB is 1000)"
    )
}

/// Words of a list of pairs of word and meaning.
pub const fn words<T, const N: usize>(all: &[(&'static str, T); N]) -> [&'static str; N] {
    let mut words = [""; N];
    let mut at = 0;
    while at < N {
        words[at] = all[at].0;
        at += 1;
    }
    words
}

/// Joins words as "a, b or c".
fn listed(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [word] => (*word).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}
