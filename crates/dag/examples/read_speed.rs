//! How fast a recorded trace is read, by stages.
//!
//!     cargo run --release -p workspan-dag --example read_speed FILE

use std::path::Path;
use std::time::Instant;

use workspan_dag::OpenOptions;
use workspan_dag::build::{Mode, build};
use workspan_dag::memory::ColumnMemory;

#[global_allocator]
static MEMORY: ColumnMemory = ColumnMemory;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("expected a recorded trace")?;
    let bytes = std::fs::read(Path::new(&path))?;
    let begin = Instant::now();
    let raw = workspan_dag::recorded::read(&bytes, &OpenOptions::default())?;
    let read = begin.elapsed().as_secs_f64();
    let events = raw
        .meta
        .facts
        .iter()
        .find(|(key, _)| key == "events")
        .and_then(|(_, n)| n.parse::<f64>().ok());
    let (tasks, strands) = (raw.tasks.len(), raw.strands.len());
    let events = events.unwrap_or(0.0);
    println!("{tasks} tasks, {strands} strands told, {events} events");
    println!("read {read:.3} s, {:.1} M events/s", events / read / 1e6);
    let begin = Instant::now();
    let dag = build(raw, Mode::Repair)?;
    println!(
        "build {:.3} s, {} strands",
        begin.elapsed().as_secs_f64(),
        dag.strands.len()
    );
    Ok(())
}
