//! Control socket: each request and each answer is a JSON document on one line.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::drive::Drive;
use crate::error::{Error, Result};

/// Longest request, in bytes; the rest of a longer line is treated as another request.
const LONGEST_LINE: u64 = 4096;

#[derive(Deserialize)]
struct Question {
    ask: String,
}

/// A control socket that listens, until it is dropped.
pub struct Control {
    path: PathBuf,
}

impl Control {
    /// Listens at `path`, with access for this user only.
    pub fn listen(path: &Path, drive: Arc<Drive>) -> Result<Self> {
        let failed = |error| Error::io(path, "listen there", &error);
        let listener = UnixListener::bind(path).map_err(failed)?;
        let private = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(path, private).map_err(failed)?;
        let accept = move || {
            for client in listener.incoming() {
                let Ok(client) = client else {
                    // If no file descriptor is free, accepting fails at once, and the client waits
                    // in the queue. A pause keeps this loop from using all processor time.
                    std::thread::sleep(Duration::from_millis(100));
                    continue;
                };
                let drive = drive.clone();
                let talk = move || talk(client, &drive);
                // If no thread can be started, the connection is closed.
                let _ = std::thread::Builder::new().name("control".into()).spawn(talk);
            }
        };
        std::thread::Builder::new().name("listener".into()).spawn(accept).map_err(failed)?;
        Ok(Control { path: path.to_owned() })
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

fn talk(client: UnixStream, drive: &Drive) {
    let Ok(mut to) = client.try_clone() else { return };
    let mut from = BufReader::new(client);
    let mut line = String::new();
    loop {
        line.clear();
        match from.by_ref().take(LONGEST_LINE).read_line(&mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let mut text = answer(&line, drive).to_string();
        text.push('\n');
        if to.write_all(text.as_bytes()).is_err() {
            return;
        }
    }
}

/// Answer to a request.
pub fn answer(line: &str, drive: &Drive) -> Value {
    let error = |sentence: String| json!({"error": sentence});
    let question: Question = match serde_json::from_str(line) {
        Ok(question) => question,
        Err(why) => return error(format!("expected a JSON object with the key \"ask\": {why}")),
    };
    let answer = match &*question.ask {
        "counters" => drive.counters(false).map(Value::Object),
        "begin" => drive.counters(true).map(Value::Object),
        "series" => drive.series(),
        "blocks" => drive.blocks(),
        other => {
            return error(format!(
                "unknown query {other:?}; valid: counters, begin, series, blocks"
            ));
        }
    };
    answer.unwrap_or_else(|why| error(why.sentence))
}
