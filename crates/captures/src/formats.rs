//! Detection of a file's format by its content, and the choice of its reader.

use std::fs::File;
use std::io::{BufRead, Seek, SeekFrom};
use std::path::Path;

use crate::capture::{Ending, Listener};
use crate::error::{Error, Result, quoted};
use crate::source::Source;
use crate::{saleae_binary, saleae_csv, sigrok_csv, sigrok_session, vcd_reader};

const VALID: &str = "valid are VCD (begins with $), sigrok sessions (.sr), sigrok's CSV (begins \
    with ;), Saleae Logic 2's CSV (begins with Time [s]) and its binary export (<SALEAE>, or a \
    folder of digital_N.bin)";

/// Reads the capture at `path`, a file or a folder, and calls the listener.
pub fn read(path: &Path, listener: &mut impl Listener) -> Result<Ending> {
    read_detected(path, listener).map_err(|error| error.of_file(path))
}

fn read_detected(path: &Path, listener: &mut impl Listener) -> Result<Ending> {
    if path.is_dir() {
        return saleae_binary::read_folder(path, listener);
    }
    let mut source = Source::new(File::open(path)?);
    let head = source.fill_buf()?;
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    match text {
        [] => Err(Error::whole(format!("the file is empty; {VALID}"))),
        [b'P', b'K', 3 | 5, 4 | 6, ..] => {
            let mut file = source.into_inner();
            file.seek(SeekFrom::Start(0))?;
            sigrok_session::read(file, listener)
        }
        [b'<', b'S', b'A', b'L', b'E', b'A', b'E', b'>', ..] => {
            saleae_binary::read(source, saleae_binary::channel_of(path), listener)
        }
        [b';', ..] => sigrok_csv::read(source, listener),
        [b'$', ..] => vcd_reader::read(source, listener),
        text if text.starts_with(b"Time") || text.starts_with(b"\"Time") => {
            saleae_csv::read(source, listener)
        }
        text => {
            let begins = quoted(&text[..text.len().min(16)]);
            Err(Error::whole(format!(
                "the file begins with {begins} and has no known format; {VALID}"
            )))
        }
    }
}
