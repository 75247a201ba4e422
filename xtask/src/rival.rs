//! The rival in the benchmark: rayon_logs, which records Rayon programs that are written for it
//! instead of Rayon.

use std::fs;
use std::path::PathBuf;

use crate::workspace::{cargo, target};

const MANIFEST: &str = r#"[package]
name = "rayon-logs-joins"
version = "0.0.0"
edition = "2024"

[dependencies]
rayon_logs = "=0.1.3"

[workspace]
"#;

/// The `joins` kernel without work, with rayon_logs. Its single log contains all batches of a run,
/// and writing it at the end takes seconds, so there are few batches.
const PROGRAM: &str = r#"use std::time::Instant;

fn fib(n: usize) -> u64 {
    if n < 2 {
        return n as u64;
    }
    let (a, b) = rayon_logs::join(|| fib(n - 1), || fib(n - 2));
    a + b
}

fn joins(n: usize) -> u64 {
    if n < 2 { 0 } else { 1 + joins(n - 1) + joins(n - 2) }
}

fn main() {
    let threads = std::env::var("RAYON_NUM_THREADS").ok().and_then(|t| t.parse().ok());
    let pool = rayon_logs::ThreadPoolBuilder::new()
        .num_threads(threads.unwrap_or(1))
        .build()
        .expect("a pool");
    let mut times = Vec::new();
    pool.install(|| {
        for _ in 0..60 {
            let started = Instant::now();
            std::hint::black_box(fib(std::hint::black_box(12)));
            times.push(started.elapsed().as_nanos() as f64 / joins(12) as f64);
        }
    });
    times.sort_by(f64::total_cmp);
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak = peak.map_or("0", |kib| kib.trim().trim_end_matches("kB").trim());
    println!("{:.2} {:.2} {peak}", times[0], times[times.len() / 2]);
}
"#;

/// Builds the program in the target folder; otherwise returns the reason.
pub fn build() -> Result<PathBuf, String> {
    let folder = target().join("workspan/rayon-logs");
    let write = || -> std::io::Result<()> {
        fs::create_dir_all(folder.join("src"))?;
        fs::write(folder.join("Cargo.toml"), MANIFEST)?;
        fs::write(folder.join("src/main.rs"), PROGRAM)
    };
    write().map_err(|e| format!("{}: {e}", folder.display()))?;
    let output = cargo()
        .current_dir(&folder)
        .args(["build", "--release", "--quiet", "--target-dir"])
        .arg(folder.join("target"))
        .output()
        .map_err(|e| e.to_string())?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let first = said.lines().find(|l| l.starts_with("error"));
        return Err(first.unwrap_or("cargo failed").to_string());
    }
    Ok(folder.join("target/release/rayon-logs-joins"))
}
