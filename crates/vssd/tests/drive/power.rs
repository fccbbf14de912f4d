//! Tests of a loss of power.
//!
//! Of the blocks written since the last flush, any subset may have reached the disk.
//!
//! The files are copied after each flush, when they are durable, and when power is lost. For each
//! block, the content of the disk is drawn at random from the two copies.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use writeamp_vssd::Drive;
use writeamp_vssd::cell::encode;
use writeamp_vssd::seal::{SEAL_BYTES, STATE_AT};
use writeamp_vssd::segment::FILE_BYTES;

use crate::support::{
    Call, PAGE_BYTES, SIZE_BYTES, config, contents, counters, counters_after, open_with, place,
    random, rounds,
};

const BLOCK_BYTES: usize = 4096;
/// Bytes of a journal that are copied.
/// Journals are sparse, and the tests write no later bytes.
const JOURNAL_BYTES: u64 = 64 << 10;
/// State *in use* of a seal, as in another boot of the machine.
const ANOTHER_RUN: u64 = 1 << 32;
type Image = BTreeMap<String, Vec<u8>>;

fn image(directory: &Path) -> Image {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
    entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            // An old journal may be removed meanwhile, so a missing file is skipped.
            let most = if number(&name).is_some() { JOURNAL_BYTES } else { u64::MAX };
            let mut bytes = Vec::new();
            let file = fs::File::open(entry.path()).ok()?;
            file.take(most).read_to_end(&mut bytes).ok().map(|_| (name, bytes))
        })
        .filter(|(name, _)| name != "drive.wa.flash.new")
        .collect()
}

fn number(name: &str) -> Option<u64> {
    name.rsplit_once(".journal-")?.1.parse().ok()
}

/// Draws the content of the disk after a loss of power.
///
/// Each block is the durable or the later version, drawn at random.
fn after_loss(durable: &Image, later: &Image, random: &mut Xoshiro256PlusPlus) -> Image {
    let mut draw = |share: u64| random.next_u64().is_multiple_of(share);
    let mut found = Image::new();
    // A snapshot is durable before it is renamed, and earlier journals are removed after that.
    let is_renamed = durable["drive.wa.flash"] != later["drive.wa.flash"] && draw(2);
    let flash = if is_renamed { later } else { durable };
    found.insert("drive.wa.flash".into(), flash["drive.wa.flash"].clone());
    let least = flash.keys().filter_map(|name| number(name)).min().unwrap();
    for name in durable.keys().chain(later.keys()).filter(|name| *name != "drive.wa.flash") {
        if number(name).is_some_and(|number| number < least && draw(2)) {
            continue;
        }
        let (old, new) = (durable.get(name), later.get(name));
        let Some(new) = new.or(old) else { continue };
        // The name of a new file may not have reached the disk either.
        if old.is_none() && !is_renamed && draw(2) {
            continue;
        }
        let mut bytes = new.clone();
        // Before a snapshot is renamed, the beginning of its journal is made durable.
        let is_begun = is_renamed && number(name) == Some(least);
        for (at, block) in bytes.chunks_mut(BLOCK_BYTES).enumerate() {
            if !(is_begun && at == 0) && draw(2) {
                match old {
                    Some(old) => block.copy_from_slice(&old[at * BLOCK_BYTES..][..block.len()]),
                    None => block.fill(0),
                }
            }
        }
        found.insert(name.clone(), bytes);
    }
    found
}

#[test]
fn nothing_that_was_flushed_is_lost_with_power() {
    let mut random = random(5);
    for round in 0..rounds(60, 600) {
        // Snapshots are taken often, rarely, or never.
        let longest_replay_ms = [0, 1, 1 << 20][round as usize % 3];
        let options = |path: &Path| {
            let mut config = config("sepgc", Some(path));
            config.longest_replay_ms = longest_replay_ms;
            config
        };
        let (directory, path) = place();
        let drive = open_with(&options(&path)).unwrap();
        let (mut calls, mut flushed) = (Vec::new(), 0);
        let mut durable = image(directory.path());
        for _ in 0..40 + random.next_u64() % 200 {
            let call = Call::draw(&mut random);
            call.request(&drive).unwrap();
            // Power may be lost between two requests to the flash that one call causes.
            calls.extend(call.parts());
            if call.is_durable() {
                drive.settle();
                (durable, flushed) = (image(directory.path()), calls.len());
            }
        }
        drive.settle();
        let later = image(directory.path());
        drop(drive);

        let (after, path) = place();
        for (name, mut bytes) in after_loss(&durable, &later, &mut random) {
            if name == "drive.wa" {
                machine_ran_anew(&mut bytes);
            }
            let is_journal = number(&name).is_some();
            fs::write(after.path().join(&name), bytes).unwrap();
            if is_journal {
                let file = fs::OpenOptions::new().write(true).open(after.path().join(&name));
                file.unwrap().set_len(FILE_BYTES as u64).unwrap();
            }
        }
        let drive =
            open_with(&options(&path)).unwrap_or_else(|error| panic!("round {round}: {error}"));
        let kept = kept(&drive, &calls, flushed);
        check_bytes(&drive, &calls, flushed, round);
        // The restored drive then works as any other drive.
        drive.flush().unwrap();
        let mut asked: Vec<_> = calls[..kept].to_vec();
        asked.extend([Call::Read { offset: 0, length: SIZE_BYTES }, Call::Flush]);
        drop(drive);
        let drive = open_with(&options(&path)).unwrap();
        assert_eq!(counters(&drive), counters_after(asked), "round {round}");
    }
}

/// Changes the seal as if the last server had run in another boot of the machine.
fn machine_ran_anew(data: &mut [u8]) {
    let at = data.len() - SEAL_BYTES as usize + STATE_AT;
    data[at..at + 8].copy_from_slice(&encode(ANOTHER_RUN).to_le_bytes());
}

/// Returns the number of requests that the counters include.
///
/// Checks that these are the first requests, and that they include all flushed ones.
fn kept(drive: &Drive, calls: &[Call], flushed: usize) -> usize {
    let found = counters(drive);
    let kept = (flushed..=calls.len())
        .find(|&count| found == counters_after(calls[..count].iter().copied()));
    kept.expect("the counters are those after a request")
}

/// Checks that each byte has the value of the last flush, or of a later request.
fn check_bytes(drive: &Drive, calls: &[Call], flushed: usize, round: u64) {
    let mut model = vec![0; SIZE_BYTES as usize];
    calls[..flushed].iter().for_each(|call| call.apply(&mut model));
    let found = contents(drive);
    let mut allowed = vec![model.clone()];
    for call in &calls[flushed..] {
        call.apply(&mut model);
        allowed.push(model.clone());
    }
    for (at, byte) in found.iter().enumerate() {
        // If a page was not flushed since its first write, all of its data may be lost.
        let page = at / PAGE_BYTES as usize;
        assert!(
            allowed.iter().any(|bytes| bytes[at] == *byte),
            "round {round}, byte {at} of page {page}"
        );
    }
}
