//! Value Change Dump, IEEE 1364: a crate's parser, and what its commands mean for pins.

use std::io::{self, Read};

use vcd::{Command, IdCode, Parser, TimescaleUnit, Value, VarType};

use crate::capture::{Ending, Header, Level, Listener, MOST_CHANNELS};
use crate::error::{Error, Result};
use crate::formats::Format;
use crate::source::Source;

/// Scopes in scopes; a file of nothing else must not fill the memory.
const DEEPEST_SCOPE: usize = 256;
const COMMANDS_BETWEEN_PROGRESS: u32 = 1 << 16;
const FS_A_PS: u64 = 1000;

/// Reads a capture.
pub fn read<R: Read>(source: Source<R>, listener: &mut impl Listener) -> Result<Ending> {
    let mut parser = Parser::new(source);
    let declared = Declared::read(&mut parser)?;
    let (header, codes) = (declared.header()?, declared.codes());
    listener.start(&header)?;
    Body { clock: declared.clock()?, codes, parser }.read(listener)
}

enum Next {
    Command(Command),
    /// The file ends within a command.
    Cut,
    End,
}

#[inline]
fn next<R: Read>(parser: &mut Parser<Source<R>>) -> Result<Next> {
    parser.reader().renew();
    match parser.next() {
        None => Ok(Next::End),
        Some(Ok(command)) => Ok(Next::Command(command)),
        Some(Err(error)) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(Next::Cut),
        Some(Err(error)) => {
            let why = error.get_ref().and_then(|inner| inner.downcast_ref::<vcd::ParseError>());
            let what = why.map_or_else(|| error.to_string(), |parse| parse.kind().to_string());
            Err(Error::line(parser.line(), format!("{what}; this is no VCD")))
        }
    }
}

#[derive(Default)]
struct Declared {
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
    fn read<R: Read>(parser: &mut Parser<Source<R>>) -> Result<Self> {
        let mut declared = Declared::default();
        loop {
            let Next::Command(command) = next(parser)? else {
                let what = "the file ends within its header, before $enddefinitions";
                return Err(Error::line(parser.line(), what));
            };
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
                .ok_or_else(|| "$upscope stands where no $scope is open".to_owned()),
            Command::VarDef(kind, bits, code, name, index) => {
                let index = index.map(|index| index.to_string()).unwrap_or_default();
                self.add(kind, bits, code, format!("{name}{index}"))
            }
            _ => Err("a change of a value stands before $enddefinitions".to_owned()),
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
        if self.timescale.is_some_and(|before| before != (number, unit)) {
            return Err("there are two $timescale that differ".to_owned());
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
        // One wire may have a name in each of several scopes; the first is kept.
        if self.wires.iter().all(|wire| wire.code != code) {
            if self.wires.len() == MOST_CHANNELS {
                return Err(format!("there are more than {MOST_CHANNELS} channels"));
            }
            self.wires.push(Wire { code, name, scope: self.scopes.join(".") });
        }
        Ok(())
    }

    fn clock(&self) -> Result<Clock> {
        let (number, unit) = self.timescale.ok_or_else(|| {
            Error::whole(
                "it has no $timescale, so no duration can be told; add one such as \
                $timescale 1 ns $end",
            )
        })?;
        let unit_fs = FS_A_PS * 1_000_000_000_000 / unit.divisor() * u64::from(number);
        Ok(Clock { tick_fs: unit_fs, now_ps: 0, rounded: 0 })
    }

    fn header(&self) -> Result<Header> {
        let resolution_ps = (self.clock()?.tick_fs / FS_A_PS).max(1);
        let channels = self.wires.iter().map(|wire| self.name(wire)).collect();
        Header::new(Format::Vcd, channels, Some(resolution_ps))
    }

    /// The name of a wire, with its scope where several have the same.
    fn name(&self, wire: &Wire) -> String {
        let alike = self.wires.iter().filter(|other| other.name == wire.name).count();
        if alike == 1 { wire.name.clone() } else { format!("{}.{}", wire.scope, wire.name) }
    }

    /// Codes with the channels that they stand for, in ascending order.
    fn codes(&self) -> Vec<(IdCode, usize)> {
        let mut codes: Vec<_> =
            self.wires.iter().enumerate().map(|(channel, wire)| (wire.code, channel)).collect();
        codes.sort_unstable();
        codes
    }
}

struct Clock {
    tick_fs: u64,
    now_ps: u64,
    rounded: u64,
}

impl Clock {
    /// Goes on to a time in ticks, or says why not.
    fn go_to(&mut self, ticks: u64) -> std::result::Result<(), String> {
        let exact_fs = u128::from(ticks) * u128::from(self.tick_fs);
        let time_ps = u64::try_from(exact_fs / u128::from(FS_A_PS)).map_err(|_| {
            format!("#{ticks} is later than {} s, the longest time kept", u64::MAX / 10u64.pow(12))
        })?;
        if time_ps < self.now_ps {
            return Err(format!("#{ticks} is earlier than the time before it; times may not fall"));
        }
        self.rounded += u64::from(exact_fs % u128::from(FS_A_PS) != 0);
        self.now_ps = time_ps;
        Ok(())
    }
}

struct Body<R> {
    parser: Parser<Source<R>>,
    codes: Vec<(IdCode, usize)>,
    clock: Clock,
}

impl<R: Read> Body<R> {
    fn read(&mut self, listener: &mut impl Listener) -> Result<Ending> {
        let mut ending = Ending::default();
        let (mut begun, mut until_progress) = (false, COMMANDS_BETWEEN_PROGRESS);
        loop {
            let command = match next(&mut self.parser)? {
                Next::Command(command) => command,
                end => {
                    ending.cut_tail = matches!(end, Next::Cut);
                    break;
                }
            };
            match command {
                Command::Timestamp(ticks) => {
                    let went = self.clock.go_to(ticks);
                    went.map_err(|what| Error::line(self.parser.line(), what))?;
                    if !begun {
                        (begun, ending.start_ps) = (true, self.clock.now_ps);
                    }
                }
                Command::ChangeScalar(code, value) => self.change(code, value, listener)?,
                Command::ChangeVector(code, value) if value.len() == 1 => {
                    self.change(code, value.get(0).unwrap_or(Value::X), listener)?;
                }
                Command::Begin(_) | Command::End(_) | Command::Comment(_) => {}
                _ => {
                    let what = "a declaration, or a value that is no single bit, stands among the \
                        changes; valid are #TIME and 0, 1, x or z with the code of a wire";
                    return Err(Error::line(self.parser.line(), what));
                }
            }
            until_progress -= 1;
            if until_progress == 0 {
                until_progress = COMMANDS_BETWEEN_PROGRESS;
                listener.progress(self.parser.reader().position())?;
            }
        }
        (ending.end_ps, ending.rounded_times) = (self.clock.now_ps, self.clock.rounded);
        Ok(ending)
    }

    #[inline]
    fn change(&mut self, code: IdCode, value: Value, listener: &mut impl Listener) -> Result<()> {
        let Ok(place) = self.codes.binary_search_by_key(&code, |(code, _)| *code) else {
            let what = format!("the code '{code}' was not declared by any $var");
            return Err(Error::line(self.parser.line(), what));
        };
        let level = match value {
            Value::V0 => Level::Low,
            Value::V1 => Level::High,
            Value::X | Value::Z => Level::Unknown,
        };
        listener.change(self.clock.now_ps, self.codes[place].1, level);
        Ok(())
    }
}
