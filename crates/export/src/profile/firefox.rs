//! The Firefox Profiler's format (profiler.firefox.com): each thread with its samples at their
//! times.

use std::io::{self, Write};
use std::time::{Duration, UNIX_EPOCH};

use fxprof_processed_profile::{
    CategoryColor, CategoryPairHandle, CpuDelta, Frame, FrameFlags, FrameInfo, Profile as Firefox,
    ReferenceTimestamp, SamplingInterval, StringHandle, Timestamp,
};
use workspan_analysis::LogicalFrame;

use super::Profile;

/// Writes the profile as JSON.
///
/// # Errors
/// Writing to `out` failed.
pub fn firefox(profile: &Profile<'_>, out: &mut impl Write) -> io::Result<()> {
    let recorded = profile.dag.meta.run.recorded_at.unwrap_or(0);
    let recorded = UNIX_EPOCH + Duration::from_secs(recorded);
    let interval = SamplingInterval::from_nanos(profile.sample_ns.max(1));
    let reference = ReferenceTimestamp::from_system_time(recorded);
    let mut firefox = Firefox::new(profile.name(), reference, interval);
    firefox.set_symbolicated(true);
    let start = Timestamp::from_nanos_since_reference(0);
    let process = firefox.add_process(profile.name(), 1, start);
    let sites = firefox.add_category("spawn sites and code", CategoryColor::Blue);
    let runtime = firefox.add_category("runtime", CategoryColor::Gray);
    let kinds: [CategoryPairHandle; 2] = [sites.into(), runtime.into()];
    let names: Vec<StringHandle> = profile
        .logical
        .frames
        .iter()
        .map(|frame| firefox.intern_string(&shown(frame)))
        .collect();
    let samples = &profile.dag.samples;
    let end = Timestamp::from_nanos_since_reference(profile.duration_ns());
    for number in profile.threads() {
        // As a main thread it would have no name of its own.
        let thread = firefox.add_thread(process, number + 1, start, false);
        firefox.set_thread_name(thread, &profile.thread_name(number));
        firefox.set_thread_end_time(thread, end);
        for (i, &stack) in profile.logical.stack.iter().enumerate() {
            if samples.thread[i] != number {
                continue;
            }
            let stack = &profile.logical.stacks[stack as usize];
            let frames = stack.iter().map(|&frame| {
                let name = &profile.logical.frames[frame as usize].name;
                FrameInfo {
                    frame: Frame::Label(names[frame as usize]),
                    category_pair: kinds[usize::from(name.starts_with("[runtime] "))],
                    flags: FrameFlags::empty(),
                }
            });
            let stack = firefox.intern_stack_frames(thread, frames);
            let time = Timestamp::from_nanos_since_reference(profile.time_ns(i));
            let cpu = CpuDelta::from_nanos(profile.sample_ns);
            firefox.add_sample(thread, time, stack, cpu, 1);
        }
    }
    firefox.set_process_end_time(process, end);
    serde_json::to_writer(&mut *out, &firefox)?;
    out.write_all(b"\n")
}

/// The format has line numbers only for code that is looked up by address.
fn shown(frame: &LogicalFrame) -> String {
    match (&frame.file, frame.line) {
        (Some(file), Some(line)) => {
            let at = format!("{file}:{line}");
            if frame.name.contains(&at) {
                frame.name.clone()
            } else {
                format!("{} ({at})", frame.name)
            }
        }
        _ => frame.name.clone(),
    }
}
