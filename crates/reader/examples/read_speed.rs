//! The speed of reading a recorded trace, by stages: processor time and, in brackets, elapsed time.
//!
//!     cargo run --release -p workspan-reader --example read_speed FILE

use std::fmt;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use workspan_dag::build::{Mode, build};
use workspan_dag::memory::ColumnMemory;
use workspan_reader::OpenOptions;
use workspan_trace::event::Events;
use workspan_trace::{ChunkKind, Tolerance, Trace};

#[global_allocator]
static MEMORY: ColumnMemory = ColumnMemory;

/// Processor time and elapsed time, in seconds.
struct Took {
    processor: f64,
    clock: f64,
}

impl fmt::Display for Took {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2} s ({:.2} s)", self.processor, self.clock)
    }
}

/// utime and stime of proc(5) stat, in hundredths of a second; 0 if there is no such file.
fn processor_time() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let ticks = fields.split_whitespace().skip(11).take(2);
    ticks.filter_map(|n| n.parse::<f64>().ok()).sum::<f64>() / 100.0
}

fn timed<T>(stage: impl FnOnce() -> T) -> (T, Took) {
    let (clock, processor) = (Instant::now(), processor_time());
    let result = stage();
    let took = Took {
        processor: processor_time() - processor,
        clock: clock.elapsed().as_secs_f64(),
    };
    (result, took)
}

/// Decodes all records on a single thread, without using them. Returns their number.
fn decode(bytes: &[u8]) -> Result<u64, Box<dyn std::error::Error>> {
    let mut events = 0;
    for chunk in Trace::open(bytes)?.chunks(Tolerance::Tolerant) {
        let chunk = chunk?;
        if chunk.kind == ChunkKind::Events {
            for event in Events::new(chunk.payload, chunk.base_ticks) {
                black_box(event);
                events += 1;
            }
        }
    }
    Ok(events)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("expected a recorded trace")?;
    let bytes = std::fs::read(Path::new(&path))?;
    let (events, took) = timed(|| decode(&bytes));
    let events = events?;
    println!(
        "decode: {events} events in {took}, {:.0} million a second of one core",
        events as f64 / took.processor.max(0.01) / 1e6
    );
    let (raw, took) = timed(|| workspan_reader::recorded::read(&bytes, &OpenOptions::default()));
    let raw = raw?;
    let (tasks, strands) = (raw.tasks.len(), raw.strands.len());
    println!("read:   {tasks} tasks, {strands} strands told in {took}");
    let (dag, took) = timed(|| build(raw, Mode::Repair));
    println!("build:  {} strands in {took}", dag?.strands.len());
    Ok(())
}
