use std::ops::Bound::{Excluded, Included, Unbounded};

use super::*;
use crate::detectors::DETECTORS;
use crate::leveling::WEAR_LEVELERS;
use crate::managers::MANAGERS;
use crate::victims::VICTIMS;
use crate::workloads::WORKLOADS;

const ENTRY: Entry = Entry::new("thing", "").example("thing:f=0.5").params(&[
    Param::required("fraction", Domain::Number(Excluded(0.0), Excluded(1.0)), "a share").or(&["f"]),
    Param::new("d", "10", Domain::Whole(1, 100), "blocks drawn"),
    Param::new("sizes", "1/2", Domain::List(&Domain::Number(Included(0.0), Unbounded)), "sizes"),
    Param::new(
        "detector",
        "oracle",
        Domain::Either(&Domain::Word(&["oracle"]), &Domain::Spec(|| &DETECTORS)),
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
    Params::read("thing", STATIC, spec.parameters, 0)
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
    let canonical = |text| WORKLOADS.read(text).unwrap().canonical();
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
        ("fraction=x", "thing: fraction=x is not valid; fraction is a number above 0 and below 1"),
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
            "thing: f and fraction are the same parameter; give only one of them",
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
    let canonical = |text| WORKLOADS.read(text).unwrap().canonical();
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
    let scaled = |text: &str| WORKLOADS.read(text).unwrap().scaled(10.0);
    for (text, form) in [
        ("uniform", "uniform"),
        ("zipf", "zipf(s=0.99,ranks_per_page=10)"),
        (
            "phases:writes=100/25,of=zipf/drift(f=0.1,r=0.9,period=1e3)",
            "phases(writes=10/3,of=zipf(s=0.99,ranks_per_page=10)/drift(hot_fraction=0.1,\
             hot_write_fraction=0.9,period=100,steps=1000))",
        ),
        ("sequential:bs=4k,trim=10%", "sequential(bs=4096,trim=0.1)"),
        ("nowa:zone=1M,active=4,bs=1k", "nowa(zone=104858,active=4,reset=trim,bs=1024)"),
    ] {
        let found = scaled(text).unwrap();
        assert_eq!(WORKLOADS.read(&found).unwrap().canonical(), {
            WORKLOADS.read(form).unwrap().canonical()
        });
    }
    let zones = WORKLOADS.read("nowa:zone=1M,bs=64k").unwrap();
    let with_units = |unit_factor| zones.scaled_with(10.0, unit_factor).unwrap();
    assert!(with_units(8.0).ends_with("bs=8192)") && with_units(1e3).ends_with("bs=512)"));
    for (text, words) in [
        ("drift:f=0.1,r=0.9,period=4,steps=2", "period=4 is less than one write"),
        ("mix:sizes=1,weights=1,of=drift(f=0.1,r=0.9,period=1,steps=1)", "drift: period=1"),
        ("sequential:bs=4k,stride=4k", "stride=4k cannot be scaled"),
        ("random:offset=1M", "because it is a position on the drive"),
        ("zipf:ranks_per_page=1e6", "at most 1.048576 times is supported"),
    ] {
        let message = scaled(text).unwrap_err().to_string();
        assert!(message.contains(words), "{message}");
    }
}

#[test]
fn blocks_go_with_the_size_of_the_drive_and_what_cannot_is_said() {
    for (kind, text, form, said) in [
        (&VICTIMS, "windowed-greedy:window=1000", "windowed-greedy(window=100)", ""),
        (&VICTIMS, "windowed-greedy:window=4", "windowed-greedy(window=1)", "0.4000 block(s)"),
        (&VICTIMS, "windowed-greedy:window=1", "windowed-greedy(window=1)", ""),
        (&VICTIMS, "d-choices:d=10", "d-choices(d=10)", ""),
        (&WEAR_LEVELERS, "youngest-free:reserve=80", "youngest-free(reserve=8)", ""),
        (&MANAGERS, "warcip:period=40", "warcip(clusters=5,period=4)", ""),
        (
            &MANAGERS,
            "sfs",
            "sfs(groups=4,scale=linear,unit=segment,start=coldest,period=0.01,samples=1024)",
            "samples=1024 is not scaled",
        ),
    ] {
        let read = kind.read(text).unwrap();
        assert_eq!(read.scaled(10.0).unwrap(), form);
        let sentences = read.not_scaled(10.0).concat();
        assert!(sentences.is_empty() == said.is_empty() && sentences.contains(said), "{sentences}");
    }
}

#[test]
fn what_is_later_is_in_the_form_of_those_specs_only_that_use_it() {
    let canonical = |text| WORKLOADS.read(text).unwrap().canonical();
    assert_eq!(canonical("zipf:ranks_per_page=1"), "zipf(s=0.99)");
    assert_eq!(canonical("zipf:ranks_per_page=2"), "zipf(s=0.99,ranks_per_page=2)");
}

#[test]
fn an_assumed_default_is_stated_and_no_other() {
    for (text, stated) in [
        ("cachelib", "cachelib:soc=0.04,soc_writes=0.33"),
        ("cachelib:soc=5%", "cachelib:soc=5%,soc_writes=0.33"),
        ("cachelib:soc_writes=0.2,trim=10%", "cachelib:soc=0.04,soc_writes=0.2,trim=10%"),
        ("cachelib:soc_writes=0.2,soc=4%", "cachelib:soc_writes=0.2,soc=4%"),
        ("zipf", "zipf"),
    ] {
        assert_eq!(WORKLOADS.read(text).unwrap().stated(text), stated);
    }
}

#[test]
fn what_only_looks_like_per_cent_is_refused() {
    for value in ["15 %", "15%%", "%", "1e1%", "nan%", "inf%", "-5%", "150%", "100%"] {
        let message = refusal(&format!("thing:f={value}"));
        assert!(message.contains("per cent without a space, such as 15%"), "{message}");
    }
    let message = WORKLOADS.read("zipf:s=99%").unwrap_err().to_string();
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
    for text in ["511", "1.0001k", "4kb", "4kib", "4ki", "k", "", "-4k", "2G", "1e30G", "4 k", "4e"]
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
        (Domain::List(&Domain::Spec(|| &WORKLOADS)), "a list of workloads, separated by '/'"),
    ] {
        assert_eq!(domain.to_string(), words);
    }
}
