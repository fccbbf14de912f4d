//! The control socket: questions and answers, a JSON document on a line each.

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

/// A question is short; whatever is longer is none.
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
    /// Listens at `path`, for this user alone.
    pub fn listen(path: &Path, drive: Arc<Drive>) -> Result<Self> {
        let failed = |error| Error::io(path, "listen there", &error);
        let listener = UnixListener::bind(path).map_err(failed)?;
        let private = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(path, private).map_err(failed)?;
        let accept = move || {
            for client in listener.incoming() {
                let Ok(client) = client else {
                    // There are no descriptors left; the client stays in line meanwhile.
                    std::thread::sleep(Duration::from_millis(100));
                    continue;
                };
                let drive = drive.clone();
                let talk = move || talk(client, &drive);
                // Where no thread can be started, the client is hung up on.
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

/// The answer to a question.
pub fn answer(line: &str, drive: &Drive) -> Value {
    let error = |sentence: String| json!({"error": sentence});
    let question: Question = match serde_json::from_str(line) {
        Ok(question) => question,
        Err(why) => return error(format!("this is no JSON object with an \"ask\": {why}")),
    };
    let found = match &*question.ask {
        "counters" => drive.counters(false).map(Value::Object),
        "begin" => drive.counters(true).map(Value::Object),
        "series" => drive.series(),
        "blocks" => drive.blocks(),
        other => {
            return error(format!(
                "there is no {other:?} to ask for; valid: counters, begin, series, blocks"
            ));
        }
    };
    found.unwrap_or_else(|why| error(why.sentence))
}
