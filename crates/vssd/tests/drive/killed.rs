//! kill -9 at random times: answered requests are stored and counted afterwards.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use rand_core::Rng;

use crate::support::{
    Call, SIZE_BYTES, contents, counters, counters_after, open, place, random, rounds,
};

const CHILD: &str = "WRITEAMP_KILLED_DRIVE";

/// Process that is killed. It sends requests one by one, and prints before and after each.
#[test]
fn a_server_in_a_process_of_its_own() {
    let Some(asked) = std::env::var_os(CHILD) else { return };
    let asked = asked.into_string().unwrap();
    let (seed, path) = asked.split_once(' ').unwrap();
    let drive = open(Path::new(path)).unwrap();
    let mut random = random(seed.parse().unwrap());
    let mut out = std::io::stdout();
    out.write_all(b"\nREADY\n").unwrap();
    loop {
        Call::draw(&mut random).request(&drive).unwrap();
        out.write_all(b".\n").unwrap();
    }
}

#[test]
fn nothing_that_was_answered_is_lost_when_the_server_is_killed() {
    let (_directory, path) = place();
    let (mut asked, mut model) = (Vec::new(), vec![0; SIZE_BYTES as usize]);
    let mut moments = random(99);
    for round in 0..rounds(40, 200) {
        let answered = answered_until_killed(&path, round, moments.next_u64() % 60);
        let mut calls = random(round);
        let mut next = || Call::draw(&mut calls);
        for _ in 0..answered {
            let call = next();
            call.apply(&mut model);
            asked.push(call);
        }
        let drive = open(&path).unwrap();
        // The unanswered request may have been served, partly or not; its served parts are counted.
        let (found, under_way) = (counters(&drive), next());
        let mut parts = under_way.parts().into_iter();
        while found != counters_after(asked.iter().copied()) {
            asked.push(parts.next().unwrap_or_else(|| panic!("round {round}: {found}")));
        }
        let bytes = contents(&drive);
        asked.push(Call::Read { offset: 0, length: SIZE_BYTES });
        let mut with = model.clone();
        under_way.apply(&mut with);
        for (at, byte) in bytes.iter().enumerate() {
            assert!(*byte == model[at] || *byte == with[at], "round {round}, byte {at}");
        }
        model = bytes;
    }
}

/// Returns the number of requests that a server answered before it was killed, `after_ms`.
fn answered_until_killed(path: &Path, seed: u64, after_ms: u64) -> usize {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "killed::a_server_in_a_process_of_its_own", "--nocapture"])
        .env(CHILD, format!("{seed} {}", path.display()))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.by_ref().any(|line| line.unwrap() == "READY"));
    let killer = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(after_ms));
        child.kill().unwrap();
        child.wait().unwrap();
    });
    let answered = lines.map_while(Result::ok).filter(|line| line == ".").count();
    killer.join().unwrap();
    answered
}
