//! pprof's `profile.proto`, compressed by gzip: samples with count and time, the thread as a label,
//! and the label `critical_path` on samples of that path (`pprof -tagfocus=critical_path`).

use std::collections::BTreeMap;
use std::io::{self, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use prost::Message;

use super::Profile;

/// `Profile`. Names, numbers and types are those of pprof's `.proto` file.
#[derive(Clone, PartialEq, Message)]
pub struct PprofMessage {
    #[prost(message, repeated, tag = "1")]
    sample_type: Vec<ValueType>,
    #[prost(message, repeated, tag = "2")]
    sample: Vec<Sample>,
    #[prost(message, repeated, tag = "4")]
    location: Vec<Location>,
    #[prost(message, repeated, tag = "5")]
    function: Vec<Function>,
    #[prost(string, repeated, tag = "6")]
    string_table: Vec<String>,
    #[prost(int64, tag = "9")]
    time_nanos: i64,
    #[prost(int64, tag = "10")]
    duration_nanos: i64,
    #[prost(message, optional, tag = "11")]
    period_type: Option<ValueType>,
    #[prost(int64, tag = "12")]
    period: i64,
    #[prost(int64, tag = "14")]
    default_sample_type: i64,
}

#[derive(Clone, PartialEq, Message)]
struct ValueType {
    #[prost(int64, tag = "1")]
    r#type: i64,
    #[prost(int64, tag = "2")]
    unit: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Sample {
    /// Innermost first.
    #[prost(uint64, repeated, tag = "1")]
    location_id: Vec<u64>,
    #[prost(int64, repeated, tag = "2")]
    value: Vec<i64>,
    #[prost(message, repeated, tag = "3")]
    label: Vec<Label>,
}

#[derive(Clone, PartialEq, Message)]
struct Label {
    #[prost(int64, tag = "1")]
    key: i64,
    #[prost(int64, tag = "2")]
    str: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Location {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(message, repeated, tag = "4")]
    line: Vec<Line>,
}

#[derive(Clone, PartialEq, Message)]
struct Line {
    #[prost(uint64, tag = "1")]
    function_id: u64,
    #[prost(int64, tag = "2")]
    line: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Function {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(int64, tag = "2")]
    name: i64,
    #[prost(int64, tag = "3")]
    system_name: i64,
    #[prost(int64, tag = "4")]
    filename: i64,
}

/// The string table; index 0 is the empty string.
struct Strings {
    all: Vec<String>,
    index: BTreeMap<String, i64>,
}

impl Strings {
    fn new() -> Strings {
        Strings {
            all: vec![String::new()],
            index: BTreeMap::from([(String::new(), 0)]),
        }
    }

    fn of(&mut self, text: &str) -> i64 {
        if let Some(&known) = self.index.get(text) {
            return known;
        }
        let number = self.all.len() as i64;
        self.all.push(text.to_owned());
        self.index.insert(text.to_owned(), number);
        number
    }
}

/// Writes the profile.
///
/// # Errors
/// Writing to `out` failed.
pub fn pprof(profile: &Profile<'_>, out: &mut impl Write) -> io::Result<()> {
    let mut encoder = GzEncoder::new(out, Compression::default());
    encoder.write_all(&message(profile).encode_to_vec())?;
    encoder.finish()?;
    Ok(())
}

fn message(profile: &Profile<'_>) -> PprofMessage {
    let mut strings = Strings::new();
    let (location, function) = locations(profile, &mut strings);
    let sample = samples(profile, &mut strings);
    let cpu = ValueType {
        r#type: strings.of("cpu"),
        unit: strings.of("nanoseconds"),
    };
    let count = ValueType {
        r#type: strings.of("samples"),
        unit: strings.of("count"),
    };
    let seconds = profile.dag.meta.run.recorded_at.unwrap_or(0);
    PprofMessage {
        sample_type: vec![count, cpu.clone()],
        sample,
        location,
        function,
        string_table: strings.all,
        time_nanos: i64::try_from(seconds.saturating_mul(1_000_000_000)).unwrap_or(0),
        duration_nanos: i64::try_from(profile.duration_ns()).unwrap_or(i64::MAX),
        default_sample_type: cpu.r#type,
        period_type: Some(cpu),
        period: profile.sample_ns as i64,
    }
}

/// One location per level, one function per name and file. Numbers begin at 1.
fn locations(profile: &Profile<'_>, strings: &mut Strings) -> (Vec<Location>, Vec<Function>) {
    let mut functions: Vec<Function> = Vec::new();
    let mut known: BTreeMap<(i64, i64), u64> = BTreeMap::new();
    let frames = profile.logical.frames.iter().zip(1..);
    let location = |(frame, id): (&workspan_analysis::LogicalFrame, u64)| {
        let name = strings.of(&frame.name);
        let filename = strings.of(frame.file.as_deref().unwrap_or(""));
        let next = functions.len() as u64 + 1;
        let function_id = *known.entry((name, filename)).or_insert_with(|| {
            functions.push(Function {
                id: next,
                name,
                system_name: name,
                filename,
            });
            next
        });
        Location {
            id,
            line: vec![Line {
                function_id,
                line: frame.line.unwrap_or(0).into(),
            }],
        }
    };
    let locations = frames.map(location).collect();
    (locations, functions)
}

/// Merges equal samples into one with a count.
fn samples(profile: &Profile<'_>, strings: &mut Strings) -> Vec<Sample> {
    let logical = &profile.logical;
    let mut counts: BTreeMap<(u32, u32, bool), i64> = BTreeMap::new();
    for (i, &stack) in logical.stack.iter().enumerate() {
        let thread = profile.dag.samples.thread[i];
        *counts
            .entry((stack, thread, logical.critical[i]))
            .or_default() += 1;
    }
    let (thread_key, critical_key) = (strings.of("thread"), strings.of("critical_path"));
    let yes = strings.of("yes");
    let sample = |((stack, thread, critical), count): ((u32, u32, bool), i64)| {
        let mut label = vec![Label {
            key: thread_key,
            str: strings.of(&profile.thread_name(thread)),
        }];
        if critical {
            label.push(Label {
                key: critical_key,
                str: yes,
            });
        }
        let stack = &logical.stacks[stack as usize];
        Sample {
            location_id: stack.iter().rev().map(|&f| u64::from(f) + 1).collect(),
            value: vec![count, count * profile.sample_ns as i64],
            label,
        }
    };
    counts.into_iter().map(sample).collect()
}
