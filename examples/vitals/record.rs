//! The recording: readings as lines of plain text, to be played again on any machine.
//!
//! The first line is `vitals-recording 1 <clock ticks per s>`, each other line is one frame in the
//! form that [`crate::frame`] describes, with a stamp not before that of the frame above. A line
//! counts only with its end of line, so that a recording cut off anywhere is noticed. Knows nothing
//! of `/proc`, of what stands in a frame, of the pace of a replay, of cells.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::path::Path;

use crate::frame;
use crate::reading::Reading;
use crate::words::{ParseError, Words, is_word, shown};

const MAGIC: &str = "vitals-recording";
const VERSION: u64 = 1;

/// Writes a recording, one frame at a time.
#[derive(Debug)]
pub(crate) struct Writer<W> {
    out: W,
    /// The frame under construction; kept to be used again.
    line: String,
}

impl Writer<File> {
    /// Starts a recording in a new file, or in place of an old one.
    pub(crate) fn create(path: &Path, ticks: u64) -> io::Result<Self> {
        Self::new(File::create(path)?, ticks)
    }
}

impl<W: Write> Writer<W> {
    /// Writes the header; `ticks` is the unit of all [`CpuTimes`](crate::reading::CpuTimes), per second.
    pub(crate) fn new(out: W, ticks: u64) -> io::Result<Self> {
        let mut writer = Self { out, line: format!("{MAGIC} {VERSION} {ticks}") };
        writer.end_line()?;
        Ok(writer)
    }

    /// Writes and flushes one frame. After an error the last line may be incomplete, so nothing
    /// more should be written. A name that is not one word cannot be recorded (the kernel has none).
    pub(crate) fn frame(&mut self, reading: &Reading) -> io::Result<()> {
        let nets = reading.nets.iter().map(|net| &net.name);
        let mut names = nets.chain(reading.disks.iter().map(|disk| &disk.name));
        if let Some(name) = names.find(|name| !is_word(name)) {
            let problem = format!("cannot record the name `{}`: not one word", shown(name));
            return Err(io::Error::new(ErrorKind::InvalidInput, problem));
        }
        self.line.clear();
        frame::encode(&mut self.line, reading);
        self.end_line()
    }

    fn end_line(&mut self) -> io::Result<()> {
        self.line.push('\n');
        self.out.write_all(self.line.as_bytes())?;
        self.out.flush()
    }
}

/// Why a recording cannot be read, or not further.
#[derive(Debug)]
pub(crate) enum RecordError {
    /// The system says no: the place (file, or file and line) and why.
    Io(String, io::Error),
    /// A line is not understood.
    Parse(ParseError),
    /// The last line lacks its end: its place.
    Truncated(String),
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(place, error) => write!(f, "cannot read {place}: {error}"),
            Self::Parse(error) => write!(f, "{error}"),
            Self::Truncated(place) => write!(f, "{place}: the recording is cut off in this line"),
        }
    }
}

impl std::error::Error for RecordError {}

/// Reads a recording frame by frame. After an error there are no more frames; a last line without its
/// end, as a recorder leaves it that was killed, is an error after the whole frames before it.
#[derive(Debug)]
pub(crate) struct Reader<R> {
    file: String,
    input: R,
    ticks: u64,
    /// The line in `text`, counted from 1.
    line: usize,
    text: String,
    /// The stamp of the frame read last.
    last_ms: u64,
    done: bool,
}

impl Reader<BufReader<File>> {
    /// Opens a recording and reads its header.
    pub(crate) fn open(path: &Path) -> Result<Self, RecordError> {
        let file = path.display().to_string();
        match File::open(path) {
            Ok(input) => Self::new(&file, BufReader::new(input)),
            Err(error) => Err(RecordError::Io(file, error)),
        }
    }
}

impl<R: BufRead> Reader<R> {
    /// Reads the header. `file` is the name for errors.
    pub(crate) fn new(file: &str, input: R) -> Result<Self, RecordError> {
        let (file, text) = (file.to_owned(), String::new());
        let mut reader = Self { file, input, ticks: 0, line: 0, text, last_ms: 0, done: false };
        let whole = reader.next_line()?;
        let mut words = Words::new(&reader.file, reader.line, &reader.text);
        reader.ticks = header(&mut words).map_err(RecordError::Parse)?;
        if whole { Ok(reader) } else { Err(RecordError::Truncated(reader.place())) }
    }

    /// Clock ticks per second: the unit of all [`CpuTimes`](crate::reading::CpuTimes) of the frames.
    pub(crate) fn ticks(&self) -> u64 {
        self.ticks
    }

    /// Reads one line into `text`; false at the end of the file, where `text` holds what is left.
    fn next_line(&mut self) -> Result<bool, RecordError> {
        self.line += 1;
        self.text.clear();
        match self.input.read_line(&mut self.text) {
            Ok(_) => Ok(self.text.ends_with('\n')),
            Err(error) => Err(RecordError::Io(self.place(), error)),
        }
    }

    fn next_frame(&mut self) -> Result<Option<Reading>, RecordError> {
        if !self.next_line()? {
            return if self.text.is_empty() {
                Ok(None)
            } else {
                Err(RecordError::Truncated(self.place()))
            };
        }
        let mut words = Words::new(&self.file, self.line, &self.text);
        let reading = frame::decode(&mut words).map_err(RecordError::Parse)?;
        if reading.at_ms < self.last_ms {
            let problem = format!("the stamp goes back behind {}", self.last_ms);
            let line = Words::new(&self.file, self.line, &self.text);
            return Err(RecordError::Parse(line.error(problem)));
        }
        self.last_ms = reading.at_ms;
        Ok(Some(reading))
    }

    fn place(&self) -> String {
        format!("{}:{}", self.file, self.line)
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<Reading, RecordError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let next = self.next_frame().transpose();
        self.done = !matches!(next, Some(Ok(_)));
        next
    }
}

/// Reads the header; returns the clock ticks per second.
fn header(words: &mut Words<'_>) -> Result<u64, ParseError> {
    let expected = format!("`{MAGIC} {VERSION} <clock ticks per s>`");
    let magic = words.need(&expected)?;
    if magic != MAGIC {
        return Err(words.unexpected(&expected, magic));
    }
    let version = words.number()?;
    if version != VERSION {
        let problem = format!("version {version} of the format is not known, only {VERSION}");
        return Err(words.error(problem));
    }
    let ticks = words.number()?;
    if ticks == 0 {
        return Err(words.error("there must be at least one clock tick per s"));
    }
    words.end()?;
    Ok(ticks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::Net;

    const HEADER: &str = "vitals-recording 1 100\n";
    const BARE: &str = "8 cpu 0 0 0 0 0 0 0 0 kernel 0 0 mem 0 0 0 0 0 0 0\n";
    const LATER: &str = "9 cpu 1 0 0 0 0 0 0 0 kernel 0 0 mem 0 0 0 0 0 0 0 net lo 1 2 3 4\n";

    /// The frames of a recording up to its end or to its first error.
    fn read(text: &str) -> (Vec<Reading>, Option<String>) {
        let mut frames = Vec::new();
        let reader = match Reader::new("r", text.as_bytes()) {
            Ok(reader) => reader,
            Err(error) => return (frames, Some(error.to_string())),
        };
        for frame in reader {
            match frame {
                Ok(frame) => frames.push(frame),
                Err(error) => return (frames, Some(error.to_string())),
            }
        }
        (frames, None)
    }

    fn write(frames: &[Reading]) -> String {
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes, 100).unwrap();
        frames.iter().for_each(|frame| writer.frame(frame).unwrap());
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_recording_cut_off_anywhere_is_noticed() {
        let text = format!("{HEADER}{BARE}{LATER}");
        let whole = read(&text).0;
        for cut in HEADER.len()..text.len() {
            let text = &text[..cut];
            let lines = text.lines().count();
            let (complete, error) = if text.ends_with('\n') {
                (lines - 1, None)
            } else {
                (lines - 2, Some(format!("r:{lines}: the recording is cut off in this line")))
            };
            assert_eq!(read(text), (whole[..complete].to_vec(), error), "{cut}");
        }
        for cut in 0..HEADER.len() {
            assert!(read(&text[..cut]).1.is_some(), "{cut}");
        }
    }

    #[test]
    fn errors_name_line_and_column() {
        // `;` stands for an end of line, `H` for a good header, `F` for a frame, `L` for a later one.
        let table = "
=> r:1:1: expected `vitals-recording 1 <clock ticks per s>`, found the end of the line
PNG; => r:1:1: expected `vitals-recording 1 <clock ticks per s>`, found `PNG`
vitals-recording 2 100; => r:1:18: version 2 of the format is not known, only 1
vitals-recording 1 0; => r:1:20: there must be at least one clock tick per s
vitals-recording 1 100 x; => r:1:24: expected the end of the line, found `x`
vitals-recording 1 100 => r:1: the recording is cut off in this line
H;; => r:2:1: expected a whole number, found the end of the line
H;F;F x; => r:3:52: expected the end of the line, found `x`
H;L;F; => r:3:1: the stamp goes back behind 9";
        for line in table.lines().skip(1) {
            let (input, expected) = line.split_once("=> ").unwrap();
            let text = input.trim_end().replace('H', HEADER.trim_end());
            let text = text.replace('F', BARE.trim_end()).replace(';', "\n");
            let text = text.replace('L', LATER.trim_end());
            assert_eq!(read(&text).1.as_deref(), Some(expected), "{line}");
        }
    }

    #[test]
    fn a_name_that_is_not_one_word_is_not_recorded() {
        for name in ["", "a b", "a\n"] {
            let mut reading = Reading::default();
            reading.nets.push(Net { name: name.to_owned(), ..Net::default() });
            let mut bytes = Vec::new();
            let mut writer = Writer::new(&mut bytes, 100).unwrap();
            assert!(writer.frame(&reading).is_err());
            assert_eq!(bytes, HEADER.as_bytes());
        }
    }

    #[test]
    fn the_recording_beside_this_example_is_whole_and_moves() {
        let text = include_str!("../data/vitals.rec");
        let (frames, error) = read(text);
        assert_eq!((error, write(&frames) == text), (None, true));
        let (first, last) = (&frames[0], frames.last().unwrap());
        let written = |r: &Reading| r.disks.iter().map(|d| d.totals.sectors_written).sum::<u64>();
        let received = |r: &Reading| r.nets.iter().map(|net| net.totals.rx_bytes).sum::<u64>();
        assert!(frames.len() >= 100 && last.at_ms - first.at_ms >= 10_000);
        assert!(last.stat.cpu.user > first.stat.cpu.user && last.load != first.load);
        assert!(written(last) > written(first) && received(last) > received(first));
        assert!(frames.iter().any(|frame| frame.memory.available < first.memory.available));
    }
}
