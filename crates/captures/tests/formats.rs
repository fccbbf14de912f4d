//! Tests of every format on captures written by hand: they are read, rejected, or repaired.

use std::fs;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use tempfile::TempDir;
use writeamp_captures::{Ending, Error, Folding, Header, Level, Listener, Result, VcdWriter, read};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// Listener that stores every change.
#[derive(Default)]
struct Kept {
    header: Option<Header>,
    changes: Vec<(u64, usize, Level)>,
}

impl Listener for Kept {
    fn start(&mut self, header: &Header) -> Result<()> {
        self.header = Some(header.clone());
        Ok(())
    }
    fn change(&mut self, time_ps: u64, channel: usize, level: Level) {
        self.changes.push((time_ps, channel, level));
    }
    fn progress(&mut self, _: u64) -> Result<()> {
        Ok(())
    }
}

fn read_bytes(name: &str, bytes: &[u8]) -> Result<(Kept, Ending)> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    read_path(&path)
}

fn read_path(path: &Path) -> Result<(Kept, Ending)> {
    let mut kept = Kept::default();
    let ending = read(path, &mut kept)?;
    Ok((kept, ending))
}

fn refusal(name: &str, bytes: &[u8]) -> String {
    read_bytes(name, bytes).err().expect("it is refused").to_string()
}

const US: u64 = 1_000_000;
use Level::{High, Low, Unknown};

/// Two pins: the first is busy from 10 to 60 µs and from 70 µs, the second from 60 to 360 µs.
const VCD: &str = "$date today $end\n$timescale 1 us $end\n$scope module a $end\n\
    $scope module b $end\n$var wire 1 ! rb0 $end\n$upscope $end\n$var wire 1 aa rb1 [3] $end\n\
    $upscope $end\n$enddefinitions $end\n#0 1! 1aa\n$dumpvars 1! $end\n#10 0!\n#60 1! 0aa #70\n0!\n\
    #360 1aa\n#400\n";

fn expected() -> Vec<(u64, usize, Level)> {
    let times = [(10, 0, Low), (60, 0, High), (60, 1, Low), (70, 0, Low), (360, 1, High)];
    times.map(|(time_us, channel, level)| (time_us * US, channel, level)).to_vec()
}

fn without_start(kept: &Kept) -> Vec<(u64, usize, Level)> {
    kept.changes.iter().filter(|(time_ps, ..)| *time_ps > 0).copied().collect()
}

#[test]
fn a_vcd_with_several_changes_on_a_line_is_read() {
    let (kept, ending) = read_bytes("x", VCD.as_bytes()).unwrap();
    let header = kept.header.as_ref().unwrap();
    assert_eq!(header.channels, ["rb0", "rb1[3]"]);
    assert_eq!(header.resolution_ps, Some(US));
    assert_eq!(without_start(&kept), expected());
    assert_eq!((ending.start_ps, ending.end_ps, ending.cut_tail), (0, 400 * US, false));
}

#[test]
fn every_timescale_is_exact_and_femtoseconds_are_said_to_be_rounded() {
    for (timescale, tick_ps) in
        [("1s", 10u64.pow(12)), ("100 ms", 10u64.pow(11)), ("10 ns", 10_000)]
    {
        let text = VCD.replace("1 us", timescale);
        let (_, ending) = read_bytes("x", text.as_bytes()).unwrap();
        assert_eq!((ending.end_ps, ending.rounded_times), (400 * tick_ps, 0));
    }
    let (_, ending) = read_bytes("x", VCD.replace("1 us", "10 fs").as_bytes()).unwrap();
    assert_eq!((ending.end_ps, ending.rounded_times), (4, 4)); // 100, 600, 700 and 3600 fs
}

#[test]
fn a_damaged_vcd_is_refused_with_its_line() {
    for (from, to, says) in [
        ("1 us", "7 us", ":2: $timescale is 7 us; the number must be 1, 10 or 100"),
        ("$timescale 1 us $end", "", "the file has no $timescale"),
        ("#70", "#5", ":13: #5 is earlier"),
        ("#360 1aa", "#360 1q", ":15: the code \"q\" was not declared"),
        ("#360 1aa", "#360 1", ":15: the code \"\" was not declared"),
        ("#360 1aa", "#360 aa", ":15: \"aa\" is not a change"),
        ("#360 1aa", "#99999999999999999999 1aa", "is not a whole number of ticks"),
        (
            "#360 1aa",
            "#9999999999999999999 1aa",
            "is later than 213 days, the longest time that is supported",
        ),
        ("wire 1 !", "wire 8 !", ":5: 'rb0' is a wire of 8 bits; only wires of 1 bit"),
        ("$enddefinitions $end", "", "precedes $enddefinitions"),
        ("#70", "\0\0\0", ":13: \"\" is not a change"),
    ] {
        let text = VCD.replace(from, to);
        assert_ne!(text, VCD);
        let said = refusal("x", text.as_bytes());
        assert!(said.contains(says), "{said}");
    }
}

#[test]
fn unknown_levels_are_handed_on_and_a_vector_of_one_bit_is_a_level() {
    let text = VCD.replace("#70\n0!", "#70\nx! b0 !");
    let (kept, _) = read_bytes("x", text.as_bytes()).unwrap();
    let after = &without_start(&kept)[3..5];
    assert_eq!(after, [(70 * US, 0, Unknown), (70 * US, 0, Low)]);
}

#[test]
fn a_line_longer_than_any_is_refused_and_not_kept_in_memory() {
    let mut text = VCD.as_bytes().to_vec();
    text.extend(std::iter::repeat_n(b'1', 3 << 20));
    assert!(refusal("x", &text).contains("a word is longer than"));
    let text = format!("$comment {}", "a".repeat(3 << 20));
    assert!(refusal("x", text.as_bytes()).contains("longer than 1024 KiB"));
}

fn session(metadata: &str, chunks: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default();
    for (name, bytes) in
        [("version", &b"2"[..]), ("metadata", metadata.as_bytes())].iter().chain(chunks)
    {
        archive.start_file(*name, options).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

const METADATA: &str = "[device 1]\ncapturefile=logic-1\ntotal probes=2\nsamplerate=1 MHz\n\
    probe1=rb0\nprobe2=rb1\nunitsize=1\n";

/// Returns two pins, as samples of every microsecond from 0 to 399.
fn samples() -> Vec<u8> {
    let first = |time| !((10..60).contains(&time) || time >= 70);
    (0..400).map(|time| u8::from(first(time)) | u8::from(!(60..360).contains(&time)) << 1).collect()
}

#[test]
fn a_sigrok_session_is_read_with_its_chunks_in_the_order_of_their_numbers() {
    let samples = samples();
    let names: Vec<String> = (1..=12).map(|number| format!("logic-1-{number}")).collect();
    let mut chunks: Vec<(&str, &[u8])> =
        names.iter().map(String::as_str).zip(samples.chunks(34)).collect();
    chunks.sort_unstable(); // as text: 1, 10, 11, 12, 2
    let (kept, ending) = read_bytes("x", &session(METADATA, &chunks)).unwrap();
    assert_eq!(kept.header.as_ref().unwrap().channels, ["rb0", "rb1"]);
    assert_eq!(without_start(&kept), expected());
    assert_eq!(ending.end_ps, 400 * US);
    chunks.retain(|(name, _)| *name != "logic-1-3");
    let said = refusal("x", &session(METADATA, &chunks));
    assert!(said.contains("'logic-1-3' is missing"), "{said}");
}

#[test]
fn wide_samples_are_read_and_half_a_sample_is_refused() {
    let metadata = METADATA.replace("unitsize=1", "unitsize=3").replace("probe2", "probe20");
    let wide: Vec<u8> = samples().iter().flat_map(|bits| [bits & 1, 0, (bits >> 1) << 3]).collect();
    let (kept, _) = read_bytes("x", &session(&metadata, &[("logic-1-1", &wide)])).unwrap();
    assert_eq!(without_start(&kept), expected());
    let said = refusal("x", &session(&metadata, &[("logic-1-1", &wide[1..])]));
    assert!(said.contains("end within one of 3 bytes"), "{said}");
}

#[test]
fn a_session_that_lacks_something_says_what() {
    let samples = samples();
    for (from, to, says) in [
        ("samplerate=1 MHz", "", "lacks samplerate"),
        ("1 MHz", "soon", "the samplerate is \"soon\""),
        ("unitsize=1", "unitsize=0", "it must be 1 to 8 bytes"),
        ("probe2", "probe9", "probe9 has no bit"),
        ("probe2", "probe1", "probe1 is named twice"),
        ("logic-1\n", "other\n", "the session has no samples"),
    ] {
        let said = refusal("x", &session(&METADATA.replace(from, to), &[("logic-1-1", &samples)]));
        assert!(said.contains(says), "{said}");
    }
}

fn sigrok_csv() -> String {
    let rows = samples().into_iter().map(|bits| format!("{},{}\n", bits & 1, bits >> 1));
    format!(
        "; libsigrok\n; Channels (2/2): rb0, rb1\n; Samplerate: 1 MHz\nlogic,logic\n{}",
        rows.collect::<String>()
    )
}

#[test]
fn sigrok_csv_is_read_and_what_is_no_sample_is_refused() {
    let (kept, ending) = read_bytes("x", sigrok_csv().as_bytes()).unwrap();
    assert_eq!(kept.header.as_ref().unwrap().channels, ["rb0", "rb1"]);
    assert_eq!((without_start(&kept), ending.end_ps), (expected(), 400 * US));
    let bad = sigrok_csv().replacen("0,1\n", "0,2\n", 1);
    assert!(refusal("x", bad.as_bytes()).contains(":15: \"0,2\" is not a sample"));
    let without = sigrok_csv().replace("; Samplerate: 1 MHz\n", "");
    assert!(refusal("x", without.as_bytes()).contains("no comment '; Samplerate"));
}

const SALEAE_CSV: &str = "Time [s],rb0,\"rb,1\"\n-0.000001,1,1\n0.000009,0,1\n0.000059,1,0\n\
    0.000069,0,0\n0.000359,0,1\n";

#[test]
fn saleae_csv_is_read_from_a_time_before_0() {
    let (kept, ending) = read_bytes("x", SALEAE_CSV.as_bytes()).unwrap();
    assert_eq!(kept.header.as_ref().unwrap().channels, ["rb0", "rb,1"]);
    assert_eq!((without_start(&kept), ending.end_ps), (expected(), 360 * US));
    for (from, to, says) in [
        ("0.000069,0,0", "0.000009,0,0", ":5: the time \"0.000009\" is earlier"),
        ("0.000069,0,0", "now,0,0", ":5: the time is \"now\""),
        ("0.000069,0,0", "0.000069,0", ":5: the row has 2 fields; it must have 3"),
        ("0.000069,0,0", "0.000069,0,x", ":5: a level is \"x\""),
        ("Time [s]", "Time", "the first column is \"Time\""),
    ] {
        let said = refusal("x", SALEAE_CSV.replace(from, to).as_bytes());
        assert!(said.contains(says), "{said}");
    }
}

fn saleae_binary(version: i32, initial: u32, times_s: &[f64]) -> Vec<u8> {
    let mut bytes = b"<SALEAE>".to_vec();
    bytes.extend(version.to_le_bytes());
    bytes.extend(0i32.to_le_bytes());
    bytes.extend(initial.to_le_bytes());
    bytes.extend(1f64.to_le_bytes());
    bytes.extend(1.0004f64.to_le_bytes());
    bytes.extend((times_s.len() as u64).to_le_bytes());
    for time_s in times_s {
        bytes.extend(time_s.to_le_bytes());
    }
    bytes
}

fn saleae_folder(folder: &TempDir) -> PathBuf {
    let path = folder.path().join("export");
    fs::create_dir(&path).unwrap();
    let first = saleae_binary(0, 1, &[1.000_01, 1.000_06, 1.000_07]);
    fs::write(path.join("digital_9.bin"), first).unwrap();
    fs::write(path.join("digital_10.bin"), saleae_binary(0, 1, &[1.000_06, 1.000_36])).unwrap();
    path
}

#[test]
fn a_folder_of_saleae_files_is_read_by_their_numbers() {
    let folder = TempDir::new().unwrap();
    let (kept, ending) = read_path(&saleae_folder(&folder)).unwrap();
    assert_eq!(kept.header.as_ref().unwrap().channels, ["Channel 9", "Channel 10"]);
    let mut found = without_start(&kept);
    found.sort_by_key(|(time_ps, channel, _)| (*time_ps, *channel));
    assert_eq!((found, ending.end_ps), (expected(), 400 * US));
}

#[test]
fn saleae_binaries_of_other_versions_or_out_of_order_are_refused_with_the_byte() {
    let said = refusal("x", &saleae_binary(1, 1, &[1.0001]));
    assert!(said.contains("byte 8: the file is version 1 of Saleae's binary export"), "{said}");
    let said = refusal("x", &saleae_binary(0, 1, &[1.0002, 1.0001]));
    assert!(said.contains("byte 52: change 1 is at 1.0001 s"), "{said}");
    let said = refusal("x", &saleae_binary(0, 2, &[]));
    assert!(said.contains("the first level is 2"), "{said}");
    let mut long = saleae_binary(0, 1, &[1.0001]);
    long.push(0);
    assert!(refusal("x", &long).contains("byte 52: the file continues after its 1 changes"));
}

#[test]
fn files_of_no_format_and_empty_ones_are_refused_with_what_is_valid() {
    assert!(refusal("x", b"").contains("the file is empty; valid are VCD"));
    assert!(refusal("x", b"time,level").contains("begins with \"time,level\""));
    let folder = TempDir::new().unwrap();
    let said = read_path(folder.path()).err().unwrap().to_string();
    assert!(said.contains("has no digital_N.bin"), "{said}");
    let said = read_path(&folder.path().join("none")).err().unwrap().to_string();
    assert!(said.contains("none: cannot read it"), "{said}");
}

/// Checks that a truncated capture is rejected, or has a prefix of the changes of the whole.
///
/// Every length is tested.
fn check_every_truncation(whole: &[u8]) {
    let (all, _) = read_bytes("x", whole).unwrap();
    for length in 0..whole.len() {
        if let Ok((kept, _)) = read_bytes("x", &whole[..length]) {
            assert!(all.changes.starts_with(&kept.changes), "cut to {length}");
        }
    }
}

#[test]
fn captures_cut_at_any_byte_agree_with_the_whole_or_are_refused() {
    check_every_truncation(VCD.as_bytes());
    check_every_truncation(SALEAE_CSV.trim_end().as_bytes());
    check_every_truncation(sigrok_csv().as_bytes());
    let binary = saleae_binary(0, 1, &[1.0001, 1.0002]);
    let archive = session(METADATA, &[("logic-1-1", &samples())]);
    for whole in [binary, archive] {
        for length in 0..whole.len() {
            assert!(read_bytes("x", &whole[..length]).is_err(), "cut to {length}");
        }
    }
}

#[test]
fn a_vcd_that_ends_within_a_word_says_so() {
    let (_, ending) = read_bytes("x", VCD.trim_end().as_bytes()).unwrap();
    assert!(ending.cut_tail);
    assert_eq!(ending.end_ps, 360 * US);
}

#[test]
fn a_capture_that_was_written_is_read_back() {
    let names = ["rb0".to_owned(), "rb1".to_owned()];
    let mut bytes = Vec::new();
    let comments = ["drive x $end".to_owned()];
    let mut writer = VcdWriter::new(&mut bytes, &names, US, &comments).unwrap();
    for channel in 0..2 {
        writer.edge(0, channel, High).unwrap();
    }
    for (time_ps, channel, level) in expected() {
        writer.edge(time_ps, channel, level).unwrap();
    }
    assert!(writer.edge(0, 0, High).unwrap_err().to_string().contains("must be in order"));
    writer.finish(400 * US).unwrap();
    let (kept, ending) = read_bytes("x", &bytes).unwrap();
    assert_eq!((without_start(&kept), ending.end_ps), (expected(), 400 * US));
    let refused = VcdWriter::new(Vec::new(), &names, 25_000, &[]).err().unwrap().to_string();
    assert!(refused.contains("the timescale is 25000 ps"), "{refused}");
}

#[test]
fn whoever_is_told_of_the_progress_may_end_the_reading() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("x");
    fs::write(&path, VCD).unwrap();
    let mut folding = Folding::new(false, |_| Err(Error::Cancelled));
    assert_eq!(read(&path, &mut folding), Err(Error::Cancelled));
}

/// Checks that any bytes are read without a panic, and give no more pulses than changes.
fn fold(bytes: &[u8]) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("x");
    fs::write(&path, bytes).unwrap();
    let mut folding = Folding::new(false, |_| Ok(()));
    if let Ok(ending) = read(&path, &mut folding) {
        folding.finish(&ending);
        let pulses: u64 = folding.channels().iter().map(writeamp_captures::Channel::pulses).sum();
        let counted: u64 = folding.timeline().counts().iter().sum();
        assert_eq!(pulses, counted);
        assert!(ending.start_ps <= ending.end_ps);
    }
}

/// Generates files with some bytes replaced, removed or inserted.
fn damaged(whole: Vec<u8>) -> impl Strategy<Value = Vec<u8>> {
    let length = whole.len();
    prop::collection::vec((0..length, any::<u8>(), 0..3u8), 1..6).prop_map(move |edits| {
        let mut bytes = whole.clone();
        for (place, byte, how) in edits {
            let place = place.min(bytes.len() - 1);
            match how {
                0 => bytes[place] = byte,
                1 => drop(bytes.remove(place)),
                _ => bytes.insert(place, byte),
            }
        }
        bytes
    })
}

proptest! {
    #[test]
    fn no_damage_to_a_vcd_panics(bytes in damaged(VCD.as_bytes().to_vec())) {
        fold(&bytes);
    }

    #[test]
    fn no_words_of_a_vcd_panic(words in prop::collection::vec("[#01xzb$!a ]{1,4}|#[0-9]{1,20}|\\$end", 0..40)) {
        let head = VCD.split_once("#0").unwrap().0;
        fold(format!("{head}{}\n", words.join(" ")).as_bytes());
    }

    #[test]
    fn no_damage_to_a_session_panics(
        bytes in damaged(session(METADATA, &[("logic-1-1", &samples())])),
        metadata in "(\\[device 1\\]\n)?(capturefile=logic-1\n|unitsize=[0-9]{1,2}\n|samplerate=[0-9.]{1,5} [kMG]?Hz\n|probe[0-9]{1,3}=a\n){0,8}",
    ) {
        fold(&bytes);
        fold(&session(&metadata, &[("logic-1-1", &samples())]));
    }

    #[test]
    fn no_damage_to_a_table_panics(
        saleae in damaged(SALEAE_CSV.as_bytes().to_vec()),
        sigrok in damaged(sigrok_csv().into_bytes()),
    ) {
        fold(&saleae);
        fold(&sigrok);
    }

    #[test]
    fn no_saleae_binary_panics(
        initial in 0..3u32,
        times_s in prop::collection::vec(any::<f64>(), 0..5),
        bytes in damaged(saleae_binary(0, 1, &[1.0001, 1.0002])),
    ) {
        fold(&saleae_binary(0, initial, &times_s));
        fold(&bytes);
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        fold(&bytes);
    }
}
