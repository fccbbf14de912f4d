//! Test that the naive drive does not use the engine's code, whose errors it would repeat.

use std::fs;
use std::path::{Path, PathBuf};

/// Allowed uses of the engine: its random numbers, and the lists of registered policies.
const ALLOWED: [&str; 4] = [
    "writeamp_engine::rng::Stream",
    "writeamp_engine::rng::Numbered",
    "writeamp_engine::victim_policies!",
    "writeamp_engine::placements!",
];

#[test]
fn the_naive_drive_uses_nothing_of_the_engine_but_random_numbers_and_lists_of_names() {
    let sources = sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    assert!(sources.len() > 10, "only {} files", sources.len());
    for path in sources {
        let text = fs::read_to_string(&path).expect("a source file");
        let others = ALLOWED.iter().fold(text, |text, allowed| text.replace(allowed, ""));
        let line = others.lines().find(|line| line.contains("writeamp_engine"));
        assert_eq!(line, None, "{}: only {ALLOWED:?} may be shared", path.display());
    }
}

/// Returns all files below a directory.
fn sources(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).expect("a directory");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}
