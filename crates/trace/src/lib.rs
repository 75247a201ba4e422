//! The recorded trace's file format: records, chunks, writer and reader. It depends only on `std`,
//! so that recorder, stand-ins and readers can share it. docs/format.md describes every byte.
//!
//! A file is one [`header::FileHeader`] page followed by chunks ([`chunk::ChunkHeader`] and
//! payload). A payload holds the events of one thread ([`wire`], decoded by [`event`]), or a run of
//! [`entry`] records (sites, labels, notes, mappings, …), depending on the chunk's kind. [`reader`]
//! walks the chunks of a file in memory, [`writer`] writes whole ones, and [`sealed_copy`] turns
//! the file that a process left behind into a compact, checksummed one.

pub mod bundle;
pub mod checksum;
pub mod chunk;
mod chunk_generations;
pub mod entry;
pub mod error;
pub mod event;
pub mod fnv;
pub mod folded;
pub mod function_name;
pub mod hand_off;
pub mod header;
pub mod note_keys;
pub mod off_cpu;
pub mod reader;
pub mod sealed_copy;
pub mod thread_state;
pub mod window;
pub mod wire;
pub mod writer;

pub use chunk::ChunkKind;
pub use error::FormatError;
pub use header::{ClockKind, FileHeader};
pub use reader::{Chunk, Tolerance, Trace};
pub use writer::TraceWriter;
