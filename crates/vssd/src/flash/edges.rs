//! Edges of Ready/Busy pins in a file: rows of 16 bytes, `at_ns (8) · die (4) · busy (4)`.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use writeamp_engine::timing::Edge;

use super::timed::TimedFlash;
use crate::error::{Error, Result};
use crate::files::private;

/// Writer of edges to a file.
pub struct Edges {
    path: PathBuf,
    file: BufWriter<File>,
    taken: Vec<Edge>,
    /// Error with which edges were lost.
    /// Later edges are not written, so that the file has no gap.
    failure: Option<Error>,
}

impl Edges {
    /// Creates an empty file.
    pub fn new(path: &Path) -> Result<Self> {
        let file = private::written().create(true).truncate(true).open(path);
        let file = file.map_err(|error| Error::io(path, "create it", &error))?;
        Ok(Edges {
            path: path.to_owned(),
            file: BufWriter::new(file),
            taken: Vec::new(),
            failure: None,
        })
    }

    /// Appends the edges that the drive recorded since the last call to the file.
    ///
    /// After a failed write, this and all later calls return its error, and write nothing more.
    pub fn take(&mut self, from: &mut TimedFlash) -> Result<()> {
        from.take_edges(&mut self.taken);
        if let Some(failure) = &self.failure {
            self.taken.clear();
            return Err(failure.clone());
        }
        let mut write = || {
            for Edge { at_ns, die, busy } in self.taken.drain(..) {
                self.file.write_all(&at_ns.to_le_bytes())?;
                self.file.write_all(&die.to_le_bytes())?;
                self.file.write_all(&u32::from(busy).to_le_bytes())?;
            }
            self.file.flush()
        };
        let written = write();
        let failed = |error| Error::io(&self.path, "write edges, so some are missing", &error);
        self.failure = written.map_err(failed).err();
        self.failure.clone().map_or(Ok(()), Err)
    }
}
