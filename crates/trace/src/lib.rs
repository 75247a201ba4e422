//! The recorded trace's file format: records, chunks, writer and reader. Depends on nothing but `std`, so that
//! recorder, stand-ins and readers can share it. docs/format.md describes every byte.

pub mod wire;
