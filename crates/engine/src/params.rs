//! Parameters of registered entries: their names, domains and defaults, each written once.

use std::fmt::{self, Display, Formatter};
use std::ops::Bound::{self, Excluded, Included, Unbounded};

use crate::error::{Error, Result};
use crate::registry::{Entry, Kind};
use crate::spec::split;

/// The largest value of parameters that are kept in 32 bits.
pub const U32_MAX: u64 = u32::MAX as u64;

/// Above 2^53 a float no longer names one whole number.
const MOST_EXACT: f64 = 9_007_199_254_740_992.0;

/// By how much whole blocks may change a share of the drive before a reader should hear of it.
const MATERIAL_ROUNDING: f64 = 0.1;

/// A parameter that an entry of a registry accepts.
#[derive(Debug, Clone, Copy)]
pub struct Param {
    /// Name before the equals sign.
    pub name: &'static str,
    /// Other names that are accepted for it.
    pub aliases: &'static [&'static str],
    /// The value when it is not given; `None` if it must be given.
    pub default: Option<&'static str>,
    /// Domain of its values.
    pub domain: Domain,
    /// Meaning, in a few words.
    pub help: &'static str,
    /// What becomes of it where a smaller drive stands for the one that is meant.
    pub extent: Extent,
    /// True if it is left out of the canonical form at its default, so that specs from before there
    /// was such a parameter keep theirs.
    pub is_later: bool,
}

/// How a parameter goes with the number of pages that its workload writes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Not at all, as shares, exponents and sizes of requests.
    Free,
    /// A number of writes, which grows as the pages do.
    Writes,
    /// A number of blocks, which grows as the pages do; what would be less than the domain's least
    /// is that, and the larger drive another than the one that is meant (`Params::not_scaled`).
    Blocks,
    /// A number that no smaller drive can have in proportion, and so keeps; the words say why.
    Kept(&'static str),
    /// Pages of the drive that is meant, for each page that there is.
    PerPage,
    /// Only its default is the same on drives of all sizes; the words say why.
    Place(&'static str),
}

impl Param {
    /// A parameter with a default.
    pub const fn new(
        name: &'static str,
        default: &'static str,
        domain: Domain,
        help: &'static str,
    ) -> Self {
        Param { default: Some(default), ..Param::required(name, domain, help) }
    }

    /// A parameter that must be given.
    pub const fn required(name: &'static str, domain: Domain, help: &'static str) -> Self {
        Param {
            name,
            aliases: &[],
            default: None,
            domain,
            help,
            extent: Extent::Free,
            is_later: false,
        }
    }

    /// The parameter as one that goes with the number of pages.
    #[must_use]
    pub const fn extent(mut self, extent: Extent) -> Self {
        self.extent = extent;
        self
    }

    /// The parameter as one that came later than others of its entry.
    #[must_use]
    pub const fn later(mut self) -> Self {
        self.is_later = true;
        self
    }

    /// The parameter under further names.
    #[must_use]
    pub const fn or(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    /// The parameter with another default.
    #[must_use]
    pub const fn default(mut self, default: &'static str) -> Self {
        self.default = Some(default);
        self
    }

    /// True if a valid `text` means the same as its default.
    fn is_default(&self, text: &str) -> bool {
        self.default
            .is_some_and(|default| self.domain.canonical(default) == self.domain.canonical(text))
    }

    /// Its name and its aliases.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }
}

/// The values that a parameter may have. `Display` says which in words: "a number from 0 to 1".
#[derive(Debug, Clone, Copy)]
pub enum Domain {
    /// Whole numbers from the first to the second.
    Whole(u64, u64),
    /// Numbers from one bound to the other.
    Number(Bound<f64>, Bound<f64>),
    /// One of some words.
    Word(&'static [&'static str]),
    /// Sizes from the first to the second number of bytes.
    Bytes(u64, u64),
    /// A spec of an entry of another registry.
    Spec(Kind),
    /// Values of one domain, separated by `/`.
    List(&'static Domain),
    /// A value of the first domain, or else of the second.
    Either(&'static Domain, &'static Domain),
}

impl Domain {
    /// Shares of a whole.
    pub const SHARE: Domain = Domain::Number(Included(0.0), Included(1.0));

    /// Blocks drawn for one victim. Each draw takes its time, and so many find as good a victim as
    /// a look at all blocks does, but for one block in thousands.
    pub const CHOICES: Domain = Domain::Whole(1, 1 << 16);

    /// Whether `text`, in a spec inside so many others, is in the domain; where it names an entry
    /// that is not valid, the error that says why.
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
            Domain::Spec(kind) => {
                kind.read_nested(text, depth + 1)?;
                true
            }
            Domain::List(of) => {
                let items = split(text, '/').unwrap_or_default();
                if let Some(wrong) = items.iter().find_map(|item| of.check(item, depth).err()) {
                    return Err(wrong);
                }
                !items.is_empty()
            }
            Domain::Either(one, other) => {
                return one.check(text, depth).or_else(|_| other.check(text, depth));
            }
        };
        if is_valid { Ok(()) } else { Err(None) }
    }

    /// The form of a valid `text` that all spellings of it share: numbers as short as they can be
    /// written exactly, nested specs with all of their parameters.
    pub fn canonical(&self, text: &str) -> String {
        let is_valid = |domain: &Domain| domain.check(text, 0).is_ok();
        match self {
            Domain::Whole(..) => whole::<u64>(text).to_string(),
            Domain::Number(..) => number_or_per_cent(text).expect("a valid number").to_string(),
            Domain::Word(_) => text.to_owned(),
            Domain::Bytes(..) => bytes(text).expect("a valid size").to_string(),
            Domain::Spec(kind) => kind.read(text).expect("a valid spec").canonical(),
            Domain::List(of) => {
                let items = split(text, '/').expect("a valid list");
                items.into_iter().map(|item| of.canonical(item)).collect::<Vec<_>>().join("/")
            }
            Domain::Either(one, other) => if is_valid(one) { one } else { other }.canonical(text),
        }
    }

    /// The number that a text means here: of shares, also in per cent.
    fn number(&self, text: &str) -> Option<f64> {
        if self.holds_shares() { number_or_per_cent(text) } else { number(text) }
    }

    /// True of numbers that are shares of a whole, or of what they add up to.
    fn holds_shares(&self) -> bool {
        match self {
            Domain::Number(Included(least) | Excluded(least), Included(most) | Excluded(most)) => {
                *least >= 0.0 && *most <= 1.0
            }
            Domain::Number(Included(least), Unbounded) => *least == 0.0,
            Domain::List(of) => of.holds_shares(),
            Domain::Either(one, other) => one.holds_shares() || other.holds_shares(),
            _ => false,
        }
    }

    /// The part of `text` that is to blame: the first item of a list that is not valid, or all.
    fn culprit<'a>(&self, text: &'a str) -> &'a str {
        match self {
            Domain::List(of) => split(text, '/')
                .and_then(|items| items.into_iter().find(|item| of.check(item, 0).is_err()))
                .unwrap_or(text),
            Domain::Either(_, other) => other.culprit(text),
            _ => text,
        }
    }

    /// Its values in the plural: "numbers from 0 to 1".
    fn plural(&self) -> String {
        match self {
            Domain::Whole(least, u64::MAX) if *least > 0 => {
                format!("whole numbers above {}", least - 1)
            }
            Domain::Whole(least, most) => format!("whole numbers from {least} to {most}"),
            Domain::Number(least, most) => format!("numbers{}", interval(*least, *most)),
            Domain::Word(words) => listed(words),
            Domain::Bytes(least, most) => format!("sizes{}", sizes(*least, *most)),
            Domain::Spec(kind) => kind.plural().to_owned(),
            Domain::List(of) => format!("lists of {}", of.plural()),
            Domain::Either(one, other) => format!("{} or {}", one.plural(), other.plural()),
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
            Domain::Spec(kind) => write!(f, "a {}", kind.noun()),
            Domain::List(of) => write!(f, "a list of {}, separated by '/'", of.plural()),
            Domain::Either(one, other) => write!(f, "{one} or {other}"),
        }
    }
}

/// A domain of shares, to a reader who wrote per cent.
struct PerCent(Domain);

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

/// The words of a list of what they stand for.
pub const fn words<T, const N: usize>(all: &[(&'static str, T); N]) -> [&'static str; N] {
    let mut words = [""; N];
    let mut at = 0;
    while at < N {
        words[at] = all[at].0;
        at += 1;
    }
    words
}

/// "a, b or c".
fn listed(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [word] => (*word).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// A whole number, also in the forms `1e6` and `2.5e6`.
fn integer(text: &str) -> Option<u64> {
    if let Ok(value) = text.parse() {
        return Some(value);
    }
    let value: f64 = text.parse().ok()?;
    (value.fract() == 0.0 && (0.0..=MOST_EXACT).contains(&value)).then_some(value as u64)
}

/// A number of bytes, plain or with a unit; `4k` is what storage tools mean by it. A number of units
/// need not be whole, if the bytes are.
fn bytes(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    // An exponent of ten is no unit.
    let (count, unit) = text.split_at(digits.len());
    if unit.is_empty() {
        return integer(count);
    }
    let unit_bytes = unit_bytes(unit)?;
    if let Some(count) = integer(count) {
        return count.checked_mul(unit_bytes);
    }
    if !count.starts_with(|digit: char| digit.is_ascii_digit() || digit == '.') {
        return None;
    }
    let size = number(count)? * unit_bytes as f64;
    // 1.92TB is whole, though 1.92·10¹² is so in floating point by luck only.
    let is_whole = (size - size.round()).abs() <= 1e-12 * size && size <= MOST_EXACT;
    is_whole.then_some(size.round() as u64)
}

/// The bytes of a unit: powers of 1000 with B alone, of 1024 else.
fn unit_bytes(unit: &str) -> Option<u64> {
    const LETTERS: &str = "KMGTPE";
    let power = |letter: &str| Some(LETTERS.find(letter)? as u32 + 1);
    match (unit, unit.len()) {
        ("B", _) => Some(1),
        ("k", _) => Some(1024),
        ("kB", _) => Some(1000),
        (letter, 1) => Some(1024u64.pow(power(letter)?)),
        (unit, _) => {
            let letter = unit.get(..1)?;
            match unit.get(1..)? {
                "B" => Some(1000u64.pow(power(letter)?)),
                "i" | "iB" => Some(1024u64.pow(power(letter)?)),
                _ => None,
            }
        }
    }
}

/// A finite number.
fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|value: &f64| value.is_finite())
}

/// A finite number, or so many per cent; not divided by 100, so that 7.3% is 0.073.
fn number_or_per_cent(text: &str) -> Option<f64> {
    match text.strip_suffix('%') {
        Some(count)
            if count.bytes().all(|byte| byte.is_ascii_digit() || b"+-.".contains(&byte)) =>
        {
            number(&format!("{count}e-2"))
        }
        Some(_) => None,
        None => number(text),
    }
}

/// The parameters of a spec, given or by default, each in its domain: reading one cannot fail.
#[derive(Debug, Clone)]
pub struct Params {
    entry: &'static Entry,
    given: Vec<Given>,
}

#[derive(Debug, Clone)]
struct Given {
    name: &'static str,
    /// The name or alias that was used.
    spelled: String,
    value: String,
}

impl Params {
    /// The parameters of `entry`, a `noun`, by what is given in a spec inside so many others.
    pub(crate) fn read(
        noun: &str,
        entry: &'static Entry,
        pairs: Vec<(String, String)>,
        depth: usize,
    ) -> Result<Self> {
        let mut params = Params { entry, given: Vec::with_capacity(pairs.len()) };
        for (spelled, value) in pairs {
            let known = entry.all_params().find(|param| param.names().any(|name| name == spelled));
            let Some(param) = known else {
                let names: Vec<&str> = entry.all_params().flat_map(Param::names).collect();
                let what = format!("parameter of {noun} {}", entry.name);
                return Err(Error::unknown(&what, &spelled, &names));
            };
            if let Some(other) = params.given(param.name) {
                return Err(Error::Spec(format!(
                    "{}: {} and {spelled} are the same parameter; give one of them",
                    entry.name, other.spelled
                )));
            }
            params.given.push(Given { name: param.name, spelled, value });
            let Given { value, .. } = &params.given[params.given.len() - 1];
            if let Err(wrong) = param.domain.check(value, depth) {
                // Looked for only where no error names it: nested specs would be read again.
                let outside = || {
                    let culprit = param.domain.culprit(value);
                    if culprit.contains('%') && param.domain.holds_shares() {
                        return params.outside(param.name, culprit, PerCent(param.domain));
                    }
                    params.outside(param.name, culprit, param.domain)
                };
                return Err(wrong.unwrap_or_else(outside));
            }
            if depth > 0 && entry.is_common(param) && !param.is_default(value) {
                return Err(Error::Spec(format!(
                    "{}: {}={value} is for a whole {noun}, not for a part of one; give it outside of \
                     the parentheses",
                    entry.name, param.name
                )));
            }
        }
        let missing =
            |param: &&'static Param| param.default.is_none() && !params.is_given(param.name);
        if let Some(param) = entry.all_params().find(missing) {
            return Err(Error::Spec(format!(
                "{} needs {}= ({}), as in {}",
                entry.name, param.name, param.help, entry.example
            )));
        }
        Ok(params)
    }

    /// The entry that they belong to.
    pub fn entry(&self) -> &'static Entry {
        self.entry
    }

    /// The spec with all of its parameters, in the form that all spellings of it share.
    pub fn canonical(&self) -> String {
        let params: Vec<String> =
            self.canonical_values().map(|(name, value)| format!("{name}={value}")).collect();
        if params.is_empty() {
            self.entry.name.to_owned()
        } else {
            format!("{}({})", self.entry.name, params.join(","))
        }
    }

    /// Every parameter with its value in the form that all spellings of it share; but for the common
    /// and later ones that are at their defaults, so that they change no spec that does not use them.
    pub fn canonical_values(&self) -> impl Iterator<Item = (&'static str, String)> {
        let value = |param: &Param| param.domain.canonical(self.text(param.name));
        let is_default = |param: &Param| param.is_default(self.text(param.name));
        let own =
            self.entry.params.iter().filter(move |param| !param.is_later || !is_default(param));
        let common = self.entry.common.iter().filter(move |param| !is_default(param));
        own.chain(common).map(move |param| (param.name, value(param)))
    }

    /// The spec, in the form that all spellings share, that means on a drive of so many times fewer
    /// pages what this one means on the drive itself.
    pub fn scaled(&self, factor: f64) -> Result<String> {
        let mut params = Vec::new();
        for param in self.entry.all_params() {
            let text = self.text(param.name);
            if let (Extent::Place(why), false) = (param.extent, param.is_default(text)) {
                return Err(Error::Spec(format!(
                    "{}: {}={text} cannot be scaled to a smaller drive, as {why}; give the size that \
                     is to be simulated instead of a capacity",
                    self.entry.name, param.name
                )));
            }
            let value = self.scaled_text(param, &param.domain, text, factor)?;
            if !(param.is_default(&value) && (param.is_later || self.entry.is_common(param))) {
                params.push(format!("{}={value}", param.name));
            }
        }
        if params.is_empty() {
            return Ok(self.entry.name.to_owned());
        }
        Ok(format!("{}({})", self.entry.name, params.join(",")))
    }

    fn scaled_text(
        &self,
        param: &Param,
        domain: &Domain,
        text: &str,
        factor: f64,
    ) -> Result<String> {
        match (domain, param.extent) {
            (Domain::Spec(kind), _) => kind.read(text)?.scaled(factor),
            (Domain::List(of), _) => {
                let items = split(text, '/').expect("a valid list").into_iter();
                let scaled = items.map(|item| self.scaled_text(param, of, item, factor));
                Ok(scaled.collect::<Result<Vec<_>>>()?.join("/"))
            }
            (Domain::Either(one, other), _) => {
                let domain = if one.check(text, 0).is_ok() { one } else { other };
                self.scaled_text(param, domain, text, factor)
            }
            (Domain::Whole(..), Extent::Writes) => {
                let writes = (whole::<u64>(text) as f64 / factor).round() as u64;
                if writes == 0 {
                    return Err(Error::Spec(format!(
                        "{}: {}={text} is less than one write of the drive that is simulated, which \
                         is {factor:.4} times smaller; give the size that is to be simulated instead \
                         of a capacity",
                        self.entry.name, param.name
                    )));
                }
                Ok(writes.to_string())
            }
            (Domain::Whole(least, _), Extent::Blocks) => {
                Ok(blocks_on_smaller(text, *least, factor).to_string())
            }
            (Domain::Number(_, most), Extent::PerPage) => {
                let value = number(text).expect("a number by its domain") * factor;
                if let Included(most) = *most
                    && value > most
                {
                    return Err(Error::Spec(format!(
                        "{}: the drive that is meant is {factor:.4} times larger than the one that \
                         is simulated, which stands for at most {} times as large a one; give a \
                         smaller capacity, or the size that is to be simulated",
                        self.entry.name,
                        most * factor / value,
                    )));
                }
                Ok(value.to_string())
            }
            _ => Ok(domain.canonical(text)),
        }
    }

    /// Sentences on what `scaled` leaves in another proportion to the smaller drive than it has to
    /// the one that is meant.
    pub fn not_scaled(&self, factor: f64) -> Vec<String> {
        let mut found = Vec::new();
        for param in self.entry.all_params() {
            self.note_not_scaled(param, &param.domain, self.text(param.name), factor, &mut found);
        }
        found
    }

    fn note_not_scaled(
        &self,
        param: &Param,
        domain: &Domain,
        text: &str,
        factor: f64,
        found: &mut Vec<String>,
    ) {
        let given = format!("{}: {}={text}", self.entry.name, param.name);
        match (domain, param.extent) {
            (Domain::Spec(kind), _) => {
                found.extend(
                    kind.read(text).map_or_else(|_| Vec::new(), |of| of.not_scaled(factor)),
                );
            }
            (Domain::Either(one, other), _) => {
                let domain = if one.check(text, 0).is_ok() { one } else { other };
                self.note_not_scaled(param, domain, text, factor, found);
            }
            (Domain::Whole(least, _), Extent::Blocks) => {
                let (meant, taken) =
                    (whole::<u64>(text) as f64, blocks_on_smaller(text, *least, factor));
                // At the least it is the same on every drive.
                let is_material = (taken as f64 * factor / meant - 1.0).abs() > MATERIAL_ROUNDING;
                if is_material && whole::<u64>(text) > *least {
                    found.push(format!(
                        "{given} would be {:.4} block(s) on the drive that is simulated, and is \
                         {taken}",
                        meant / factor
                    ));
                }
            }
            (_, Extent::Kept(why)) => {
                found.push(format!("{given} is the same on the drive that is simulated, as {why}"));
            }
            _ => {}
        }
    }

    /// Every parameter with its value.
    pub fn filled(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.entry.all_params().map(|param| (param.name, self.text(param.name)))
    }

    /// The text of a parameter.
    pub fn text(&self, name: &str) -> &str {
        let default = || self.param(name).default.expect("what has no default is given");
        self.given(name).map_or_else(default, |given| &given.value)
    }

    /// True if the spec gives `name` rather than leaving it at its default.
    pub fn is_given(&self, name: &str) -> bool {
        self.given(name).is_some()
    }

    /// What the word of a parameter stands for, by the list that its domain has its words from.
    pub fn choice<T: Copy>(&self, name: &str, all: &[(&str, T)]) -> T {
        let text = self.text(name);
        let (_, chosen) = all.iter().find(|(word, _)| *word == text).expect("a word of its domain");
        *chosen
    }

    /// A whole number, of a type that its domain fits.
    pub fn integer<T: TryFrom<u64>>(&self, name: &str) -> T {
        whole(self.text(name))
    }

    /// A number.
    pub fn number(&self, name: &str) -> f64 {
        number_or_per_cent(self.text(name)).expect("a number by its domain")
    }

    /// A size in bytes.
    pub fn bytes(&self, name: &str) -> u64 {
        bytes(self.text(name)).expect("a size by its domain")
    }

    /// The items of a list.
    pub fn items(&self, name: &str) -> Vec<&str> {
        split(self.text(name), '/').expect("a list by its domain")
    }

    /// A list of whole numbers.
    pub fn integers<T: TryFrom<u64>>(&self, name: &str) -> Vec<T> {
        self.items(name).into_iter().map(whole).collect()
    }

    /// A list of numbers.
    pub fn numbers(&self, name: &str) -> Vec<f64> {
        let item = |item| number_or_per_cent(item).expect("a number by its domain");
        self.items(name).into_iter().map(item).collect()
    }

    /// The error for a value that is not valid: by `domain`, which says which values are.
    pub fn outside(&self, name: &str, value: impl Display, domain: impl Display) -> Error {
        let name = self.given(name).map_or(name, |given| &given.spelled);
        Error::Spec(format!("{}: {name}={value} is not valid; {name} is {domain}", self.entry.name))
    }

    fn given(&self, name: &str) -> Option<&Given> {
        self.given.iter().find(|given| given.name == name)
    }

    fn param(&self, name: &str) -> &'static Param {
        let declared = self.entry.all_params().find(|param| param.name == name);
        declared.unwrap_or_else(|| panic!("{} declares no parameter '{name}'", self.entry.name))
    }
}

/// The blocks of a smaller drive that are as large a share of it, as far as there are as many.
fn blocks_on_smaller(text: &str, least: u64, factor: f64) -> u64 {
    ((whole::<u64>(text) as f64 / factor).round() as u64).max(least)
}

fn whole<T: TryFrom<u64>>(text: &str) -> T {
    let value = integer(text).and_then(|value| T::try_from(value).ok());
    value.expect("a whole number that fits, by its domain")
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENTRY: Entry = Entry::new("thing", "").example("thing:f=0.5").params(&[
        Param::required("fraction", Domain::Number(Excluded(0.0), Excluded(1.0)), "a share")
            .or(&["f"]),
        Param::new("d", "10", Domain::Whole(1, 100), "blocks drawn"),
        Param::new(
            "sizes",
            "1/2",
            Domain::List(&Domain::Number(Included(0.0), Unbounded)),
            "sizes",
        ),
        Param::new(
            "detector",
            "oracle",
            Domain::Either(&Domain::Word(&["oracle"]), &Domain::Spec(Kind::Detectors)),
            "what tells",
        ),
        Param::new(
            "at",
            "never",
            Domain::Either(&Domain::Word(&["never"]), &Domain::List(&Domain::Whole(1, u64::MAX))),
            "when",
        ),
    ]);

    fn read(text: &str) -> Result<Params> {
        const STATIC: &Entry = &ENTRY;
        let spec = crate::spec::Spec::parse("thing", text)?;
        Params::read("thing", STATIC, spec.given, 0)
    }

    fn refusal(text: &str) -> String {
        read(text).expect_err(text).to_string()
    }

    #[test]
    fn parameters_take_their_value_or_default_by_any_of_their_names() {
        let params = read("thing(f=0.25,d=1e1,sizes=3/0.5)").unwrap();
        assert!((params.number("fraction") - 0.25).abs() < 1e-12);
        assert_eq!(params.integer::<u32>("d"), 10);
        assert_eq!(params.numbers("sizes"), [3.0, 0.5]);
        assert!(params.is_given("fraction") && !params.is_given("at"));
        let filled: Vec<_> =
            read("thing:fraction=0.25").unwrap().filled().map(|p| p.1.to_owned()).collect();
        assert_eq!(filled, ["0.25", "10", "1/2", "oracle", "never"]);
        assert_eq!(read("thing:f=0.1,at=5/1e2").unwrap().integers::<u64>("at"), [5, 100]);
    }

    #[test]
    fn all_spellings_of_a_spec_share_one_form() {
        let canonical = |text| Kind::Workloads.read(text).unwrap().canonical();
        let form = "hot-cold(hot_fraction=0.1,hot_write_fraction=0.9)";
        for text in ["hot-cold:f=0.1,r=0.9", "hot-cold( hot_write_fraction=9e-1,f=.10)"] {
            assert_eq!(canonical(text), form);
        }
        let phases = "phases:writes=1e5/020,of=uniform/hot-cold(f=0.1,r=0.9)";
        assert_eq!(canonical(phases), format!("phases(writes=100000/20,of=uniform/{form})"));
        assert_eq!(canonical(&canonical(phases)), canonical(phases));
    }

    #[test]
    fn values_outside_their_domain_are_refused_in_sentences_made_from_it() {
        for (text, sentence) in [
            ("f=1", "thing: f=1 is not valid; f is a number above 0 and below 1"),
            (
                "fraction=x",
                "thing: fraction=x is not valid; fraction is a number above 0 and below 1",
            ),
            ("f=nan", "thing: f=nan is not valid; f is a number above 0 and below 1"),
            ("f=0.5,d=0", "thing: d=0 is not valid; d is a whole number from 1 to 100"),
            ("f=0.5,d=2.5", "thing: d=2.5 is not valid; d is a whole number from 1 to 100"),
            (
                "f=0.5,sizes=1/-1",
                "thing: sizes=-1 is not valid; sizes is a list of numbers of at least 0, separated \
                 by '/'",
            ),
            (
                "f=0.5,at=0",
                "thing: at=0 is not valid; at is never or a list of whole numbers above 0, \
                 separated by '/'",
            ),
            (
                "f=0.5,fraction=0.5",
                "thing: f and fraction are the same parameter; give one of them",
            ),
            ("d=3", "thing needs fraction= (a share), as in thing:f=0.5"),
            (
                "f=0.5,detector=bloom(window=0)",
                "bloom: window=0 is not valid; window is a number \
                 above 0 and at most 10",
            ),
        ] {
            assert_eq!(refusal(&format!("thing:{text}")), sentence);
        }
        assert!(refusal("thing:f=0.5,detector=blom").contains("did you mean 'bloom'?"));
        assert!(refusal("thing:f=0.5,e=1").contains("valid: fraction, f, d, sizes, detector, at"));
    }

    #[test]
    fn shares_may_be_given_in_per_cent_and_are_the_same_shares() {
        let canonical = |text| Kind::Workloads.read(text).unwrap().canonical();
        for (per_cent, decimal) in [
            ("hot-cold:f=10%,r=90%", "hot-cold:f=0.1,r=0.9"),
            ("hot-cold:f=7.3%,r=100%", "hot-cold:f=0.073,r=1"),
            ("mix:sizes=10%/90%,weights=90%/10%", "mix:sizes=0.1/0.9,weights=0.9/0.1"),
            ("uniform:trim=.5%", "uniform:trim=0.005"),
        ] {
            assert_eq!(canonical(per_cent), canonical(decimal));
        }
        assert_eq!(read("thing:f=7.3%").unwrap().number("fraction").to_bits(), 0.073f64.to_bits());
    }

    #[test]
    fn parameters_go_with_the_size_of_the_drive_as_they_declare() {
        let scaled = |text: &str| Kind::Workloads.read(text).unwrap().scaled(10.0);
        for (text, form) in [
            ("uniform", "uniform"),
            ("zipf", "zipf(s=0.99,ranks_per_page=10)"),
            (
                "phases:writes=100/25,of=zipf/drift(f=0.1,r=0.9,period=1e3)",
                "phases(writes=10/3,of=zipf(s=0.99,ranks_per_page=10)/drift(hot_fraction=0.1,\
                 hot_write_fraction=0.9,period=100,steps=1000))",
            ),
            ("sequential:bs=4k,trim=10%", "sequential(bs=4096,trim=0.1)"),
        ] {
            let found = scaled(text).unwrap();
            assert_eq!(Kind::Workloads.read(&found).unwrap().canonical(), {
                Kind::Workloads.read(form).unwrap().canonical()
            });
        }
        for (text, words) in [
            ("drift:f=0.1,r=0.9,period=4,steps=2", "period=4 is less than one write"),
            ("mix:sizes=1,weights=1,of=drift(f=0.1,r=0.9,period=1,steps=1)", "drift: period=1"),
            ("sequential:bs=4k,stride=4k", "stride=4k cannot be scaled"),
            ("random:offset=1M", "as it names a place of the drive"),
            ("zipf:ranks_per_page=1e6", "stands for at most 1.048576 times as large a one"),
        ] {
            let message = scaled(text).unwrap_err().to_string();
            assert!(message.contains(words), "{message}");
        }
    }

    #[test]
    fn blocks_go_with_the_size_of_the_drive_and_what_cannot_is_said() {
        for (kind, text, form, said) in [
            (Kind::Victims, "windowed-greedy:window=1000", "windowed-greedy(window=100)", ""),
            (
                Kind::Victims,
                "windowed-greedy:window=4",
                "windowed-greedy(window=1)",
                "0.4000 block(s)",
            ),
            (Kind::Victims, "windowed-greedy:window=1", "windowed-greedy(window=1)", ""),
            (Kind::Victims, "d-choices:d=10", "d-choices(d=10)", ""),
            (Kind::WearLevelers, "youngest-free:reserve=80", "youngest-free(reserve=8)", ""),
            (Kind::Managers, "warcip:period=40", "warcip(clusters=5,period=4)", ""),
            (Kind::Managers, "sfs", "sfs(groups=4,samples=1024)", "samples=1024 is the same"),
        ] {
            let read = kind.read(text).unwrap();
            assert_eq!(read.scaled(10.0).unwrap(), form);
            let sentences = read.not_scaled(10.0).concat();
            assert!(
                sentences.is_empty() == said.is_empty() && sentences.contains(said),
                "{sentences}"
            );
        }
    }

    #[test]
    fn what_is_later_is_in_the_form_of_those_specs_only_that_use_it() {
        let canonical = |text| Kind::Workloads.read(text).unwrap().canonical();
        assert_eq!(canonical("zipf:ranks_per_page=1"), "zipf(s=0.99)");
        assert_eq!(canonical("zipf:ranks_per_page=2"), "zipf(s=0.99,ranks_per_page=2)");
    }

    #[test]
    fn what_only_looks_like_per_cent_is_refused() {
        for value in ["15 %", "15%%", "%", "1e1%", "nan%", "inf%", "-5%", "150%", "100%"] {
            let message = refusal(&format!("thing:f={value}"));
            assert!(message.contains("per cent without a space, such as 15%"), "{message}");
        }
        let message = Kind::Workloads.read("zipf:s=99%").unwrap_err().to_string();
        assert!(message.contains("s=99% is not valid") && !message.contains("cent"), "{message}");
    }

    #[test]
    fn sizes_are_written_in_binary_units_and_share_a_form_in_bytes() {
        let domain = Domain::Bytes(512, 1 << 30);
        for (text, canonical) in [
            ("512", "512"),
            ("1e3", "1000"),
            ("4k", "4096"),
            ("4K", "4096"),
            ("4Ki", "4096"),
            ("4KiB", "4096"),
            ("2M", "2097152"),
            ("2Mi", "2097152"),
            ("2MiB", "2097152"),
            ("1GiB", "1073741824"),
            ("4kB", "4000"),
            ("1MB", "1000000"),
            ("1.5k", "1536"),
            ("0.0007GB", "700000"),
            ("1e3B", "1000"),
        ] {
            assert_eq!(domain.check(text, 0), Ok(()), "{text}");
            assert_eq!(domain.canonical(text), canonical);
        }
        for text in
            ["511", "1.0001k", "4kb", "4kib", "4ki", "k", "", "-4k", "2G", "1e30G", "4 k", "4e"]
        {
            assert_eq!(domain.check(text, 0), Err(None), "{text}");
        }
    }

    #[test]
    fn domains_say_in_words_what_they_hold() {
        for (domain, words) in [
            (Domain::SHARE, "a number from 0 to 1"),
            (Domain::Number(Included(1.0), Unbounded), "a number of at least 1"),
            (Domain::Number(Unbounded, Excluded(1.5)), "a number below 1.5"),
            (Domain::Word(&["a", "b", "c"]), "a, b or c"),
            (
                Domain::Bytes(512, 1 << 20),
                "a size from 512 to 1048576 bytes, as 512, 4k, 4KiB, 128K, 1M, 2MiB or 1GiB (k, K, \
                 Ki and KiB are 1024; kB is 1000)",
            ),
            (
                Domain::Either(&Domain::Word(&["all"]), &Domain::Whole(1, 255)),
                "all or a whole number from 1 to 255",
            ),
            (Domain::List(&Domain::Spec(Kind::Workloads)), "a list of workloads, separated by '/'"),
        ] {
            assert_eq!(domain.to_string(), words);
        }
    }
}
