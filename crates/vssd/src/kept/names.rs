//! Names of a drive's files, their creation and removal.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::segment::is_journal;
use crate::error::{Error, Result};
use crate::files::private;

/// The files of a drive.
#[derive(Debug, Clone)]
pub struct Files {
    /// Path of the data.
    pub data: PathBuf,
    directory: PathBuf,
}

impl Files {
    /// Files of the drive whose data are at `data`.
    pub fn of(data: &Path) -> Self {
        let directory = data.parent().filter(|parent| !parent.as_os_str().is_empty());
        Files { data: data.to_owned(), directory: directory.unwrap_or(Path::new(".")).to_owned() }
    }

    fn beside(&self, ending: &str) -> PathBuf {
        let mut name = self.data.clone().into_os_string();
        name.push(ending);
        name.into()
    }

    /// Path of the snapshot of the flash.
    pub fn flash(&self) -> PathBuf {
        self.beside(".flash")
    }

    /// Path of the checksums.
    pub fn sums(&self) -> PathBuf {
        self.beside(".sums")
    }

    /// Path of journal `number`.
    pub fn journal(&self, number: u64) -> PathBuf {
        self.beside(&format!(".journal-{number}"))
    }

    /// Number of the next journal: the first above `after` that has no file.
    pub fn next_journal(&self, after: u64) -> u64 {
        let is_free = |number: &u64| !self.journal(*number).exists();
        (after + 1..=u64::MAX).find(is_free).expect("no directory holds so many files")
    }

    /// Numbers of the files that have the name of a journal.
    pub fn journals(&self) -> Result<Vec<u64>> {
        let failed = |error| Error::io(&self.directory, "list it", &error);
        let prefix = self.beside(".journal-");
        let prefix = prefix
            .file_name()
            .expect("the path of a journal must have a file name")
            .as_encoded_bytes();
        let mut numbers = Vec::new();
        for entry in fs::read_dir(&self.directory).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            let number = name.as_encoded_bytes().strip_prefix(prefix);
            let number = number.and_then(|digits| std::str::from_utf8(digits).ok());
            // Only numbers without sign and leading zeros are accepted, because no other names are
            // created.
            numbers.extend(number.and_then(|digits| {
                digits.parse::<u64>().ok().filter(|number| number.to_string() == digits)
            }));
        }
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// Removes the journals before a number, but no file that is not a journal.
    pub fn remove_journals(&self, end: u64) -> Result<()> {
        for number in self.journals()?.into_iter().filter(|number| *number < end) {
            let path = self.journal(number);
            if is_journal(&path)? {
                remove(&path)?;
            }
        }
        Ok(())
    }

    /// Replaces the snapshot, and removes the journals before it.
    pub fn keep(&self, bytes: &[u8], number: u64) -> Result<()> {
        let (path, new) = (self.flash(), self.beside(".flash.new"));
        let failed = |error| Error::io(&new, "write it", &error);
        // The journal that the snapshot names must exist before the snapshot.
        let journal = self.journal(number);
        let begun = File::open(&journal).and_then(|file| file.sync_all());
        begun.map_err(|error| Error::io(&journal, "synchronise it", &error))?;
        self.sync_names()?;
        let made = private::written().create(true).truncate(true).open(&new);
        let written = made.and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_all()
        });
        if let Err(error) = written {
            // An incomplete snapshot is useless and takes space, so it is removed.
            remove(&new)?;
            return Err(failed(error));
        }
        fs::rename(&new, &path).map_err(failed)?;
        self.sync_names()?;
        self.remove_journals(number)
    }

    /// Makes the file names durable.
    pub fn sync_names(&self) -> Result<()> {
        let synced = File::open(&self.directory).and_then(|directory| directory.sync_all());
        synced.map_err(|error| Error::io(&self.directory, "synchronise it", &error))
    }
}

/// Removes a file if it exists.
pub fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Error::io(path, "remove it", &error))
        }
        _ => Ok(()),
    }
}
