//! Header of a Value Change Dump: wires and unit of time.

use std::io::{self, Read};

use vcd::{Command, IdCode, Parser, TimescaleUnit, VarType};

use crate::capture::{Format, Header, MOST_CHANNELS};
use crate::error::{Error, Result};
use crate::source::Source;

/// Deepest nesting of scopes, to bound the memory.
const DEEPEST_SCOPE: usize = 256;
pub const FS_A_PS: u64 = 1000;
const FS_A_S: u64 = 1_000_000_000_000_000;

/// The wires of a capture, and its unit of time.
#[derive(Default)]
pub struct Declared {
    timescale: Option<(u32, TimescaleUnit)>,
    scopes: Vec<String>,
    wires: Vec<Wire>,
}

struct Wire {
    code: IdCode,
    name: String,
    scope: String,
}

impl Declared {
    /// Reads the declarations, up to the first change.
    pub fn read<R: Read>(parser: &mut Parser<&mut Source<R>>) -> Result<Self> {
        let mut declared = Declared::default();
        loop {
            let command = next(parser)?;
            if let Command::Enddefinitions = command {
                return Ok(declared);
            }
            declared.hear(command).map_err(|what| Error::line(parser.line(), what))?;
        }
    }

    fn hear(&mut self, command: Command) -> std::result::Result<(), String> {
        match command {
            Command::Comment(_) | Command::Date(_) | Command::Version(_) => Ok(()),
            Command::Timescale(number, unit) => self.set_timescale(number, unit),
            Command::ScopeDef(_, name) => {
                self.scopes.push(name);
                if self.scopes.len() > DEEPEST_SCOPE {
                    return Err(format!("scopes are nested deeper than {DEEPEST_SCOPE}"));
                }
                Ok(())
            }
            Command::Upscope => self
                .scopes
                .pop()
                .map(drop)
                .ok_or_else(|| "$upscope without an open $scope".to_owned()),
            Command::VarDef(kind, bits, code, name, index) => {
                let index = index.map(|index| index.to_string()).unwrap_or_default();
                self.add(kind, bits, code, format!("{name}{index}"))
            }
            _ => Err("a value change precedes $enddefinitions".to_owned()),
        }
    }

    fn set_timescale(
        &mut self,
        number: u32,
        unit: TimescaleUnit,
    ) -> std::result::Result<(), String> {
        if !matches!(number, 1 | 10 | 100) {
            return Err(format!("$timescale is {number} {unit}; the number must be 1, 10 or 100"));
        }
        if self.timescale.is_some_and(|earlier| earlier != (number, unit)) {
            return Err("there are two different $timescale; it must have only one".to_owned());
        }
        self.timescale = Some((number, unit));
        Ok(())
    }

    fn add(
        &mut self,
        kind: VarType,
        bits: u32,
        code: IdCode,
        name: String,
    ) -> std::result::Result<(), String> {
        let is_level = !matches!(kind, VarType::Real | VarType::Event);
        if bits != 1 || !is_level {
            return Err(format!(
                "'{name}' is a {kind} of {bits} bits; only wires of 1 bit are read, so export the \
                 Ready/Busy pins alone"
            ));
        }
        // A wire may have several names, in different scopes; the first name is used.
        if self.wires.iter().all(|wire| wire.code != code) {
            if self.wires.len() == MOST_CHANNELS {
                return Err(format!("there are more than {MOST_CHANNELS} channels"));
            }
            self.wires.push(Wire { code, name, scope: self.scopes.join(".") });
        }
        Ok(())
    }

    /// Femtoseconds of a tick.
    pub fn tick_fs(&self) -> Result<u64> {
        let (number, unit) = self.timescale.ok_or_else(|| {
            Error::whole(
                "the file has no $timescale, so durations cannot be computed; add one such as \
                 $timescale 1 ns $end",
            )
        })?;
        Ok(FS_A_S / unit.divisor() * u64::from(number))
    }

    /// Returns the header of the capture.
    pub fn header(&self) -> Result<Header> {
        let resolution_ps = (self.tick_fs()? / FS_A_PS).max(1);
        let channels = self.wires.iter().map(|wire| self.name(wire)).collect();
        Header::new(Format::Vcd, channels, Some(resolution_ps))
    }

    /// Name of a wire, with its scope if the name is ambiguous.
    fn name(&self, wire: &Wire) -> String {
        let alike = self.wires.iter().filter(|other| other.name == wire.name).count();
        if alike == 1 { wire.name.clone() } else { format!("{}.{}", wire.scope, wire.name) }
    }

    /// The codes of the channels, in their order.
    pub fn codes(&self) -> impl Iterator<Item = String> {
        self.wires.iter().map(|wire| wire.code.to_string())
    }
}

fn next<R: Read>(parser: &mut Parser<&mut Source<R>>) -> Result<Command> {
    const CUT: &str = "the file ends within its header, before $enddefinitions";
    parser.reader().renew();
    let command = parser.next().unwrap_or_else(|| Err(io::ErrorKind::UnexpectedEof.into()));
    command.map_err(|error| {
        let why = error.get_ref().and_then(|inner| inner.downcast_ref::<vcd::ParseError>());
        let what = match why {
            Some(why) => format!("{}; this is not a VCD", why.kind()),
            None if error.kind() == io::ErrorKind::UnexpectedEof => CUT.to_owned(),
            None => error.to_string(),
        };
        Error::line(parser.line(), what)
    })
}
