//! Writes speedscope's file format (www.speedscope.app): a profile of all threads, and one for each
//! thread.

use std::io::{self, Write};

use serde::Serialize;

use super::Profile;

#[derive(Serialize)]
struct File<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    name: &'a str,
    exporter: &'static str,
    #[serde(rename = "activeProfileIndex")]
    active_profile_index: u32,
    shared: Shared<'a>,
    profiles: Vec<Sampled<'a>>,
}

#[derive(Serialize)]
struct Shared<'a> {
    frames: Vec<Frame<'a>>,
}

#[derive(Serialize)]
struct Frame<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
}

#[derive(Serialize)]
struct Sampled<'a> {
    r#type: &'static str,
    name: String,
    unit: &'static str,
    #[serde(rename = "startValue")]
    start_value: u64,
    #[serde(rename = "endValue")]
    end_value: u64,
    /// Stacks, outermost first.
    samples: Vec<&'a [u32]>,
    weights: Vec<u64>,
}

/// Writes the profile as JSON.
///
/// # Errors
/// Writing to `out` failed.
pub fn speedscope(profile: &Profile<'_>, out: &mut impl Write) -> io::Result<()> {
    let logical = &profile.logical;
    let sampled = |name: String, samples: Vec<usize>| {
        let stacks = samples.iter().map(|&i| logical.stack[i] as usize);
        Sampled {
            r#type: "sampled",
            name,
            unit: "nanoseconds",
            start_value: 0,
            end_value: samples.len() as u64 * profile.sample_ns,
            samples: stacks.map(|s| logical.stacks[s].as_slice()).collect(),
            weights: vec![profile.sample_ns; samples.len()],
        }
    };
    let all: Vec<usize> = (0..logical.stack.len()).collect();
    let of_thread = |thread: u32| {
        let threads = &profile.dag.samples.thread;
        let samples = all.iter().copied().filter(|&i| threads[i] == thread);
        sampled(profile.thread_name(thread), samples.collect())
    };
    let threads = profile.threads();
    let mut profiles = vec![sampled("all threads".into(), all.clone())];
    profiles.extend(threads.into_iter().map(of_thread));
    let frames = logical.frames.iter().map(|frame| Frame {
        name: &frame.name,
        file: frame.file.as_deref(),
        line: frame.line,
    });
    let file = File {
        schema: "https://www.speedscope.app/file-format-schema.json",
        name: profile.name(),
        exporter: concat!("workspan@", env!("CARGO_PKG_VERSION")),
        active_profile_index: 0,
        shared: Shared {
            frames: frames.collect(),
        },
        profiles,
    };
    serde_json::to_writer(&mut *out, &file)?;
    out.write_all(b"\n")
}
