//! The cost of the clock and of records, measured with the code that front ends run.

use std::sync::atomic::AtomicU64;
use std::time::Instant;

use workspan_recorder::TABLE;
use workspan_recorder::abi::{CLOCK_TSC, Handle, Table};
use workspan_recorder::wire::{Kind, SLACK};

use crate::RecordCost;

const BUFFER: usize = 16 << 10;
const BATCH: u32 = 500;
const BATCHES: u32 = 200;

pub(crate) struct Probes {
    pub(crate) clock_ns: f64,
    pub(crate) records: Vec<RecordCost>,
}

pub(crate) fn measure() -> Probes {
    let mut buffer = vec![0u8; BUFFER];
    let committed = AtomicU64::new(0);
    let table = Table {
        refill: rewind,
        ..TABLE
    };
    let base = buffer.as_mut_ptr();
    let mut handle = Handle {
        cursor: base,
        limit: base.wrapping_add(BUFFER - SLACK),
        base,
        committed: &committed,
        last: 0,
        next_task: 0,
        next_scope: 0,
        next_yield: 0,
        thread: 0,
        flags: if cfg!(target_arch = "x86_64") {
            CLOCK_TSC
        } else {
            0
        },
        table: &table,
        owner: std::ptr::null_mut(),
    };
    let h: *mut Handle = &mut handle;
    // SAFETY: `h` is a live handle that only this thread uses: its buffer, count and table outlive
    // the calls below, and `rewind` keeps the cursor inside the buffer.
    let clock_ns = least(|| unsafe {
        std::hint::black_box(Handle::now(h));
    });
    let records = [
        ("join", Kind::Join, Operands::Site),
        ("end", Kind::End, Operands::None),
        ("next", Kind::Next, Operands::Untimed),
        ("begin", Kind::Begin, Operands::Task),
        ("create", Kind::Create, Operands::Scoped),
        ("wait", Kind::Wait, Operands::Scoped),
        ("resume", Kind::Resume, Operands::None),
    ]
    .map(|(name, kind, operands)| {
        // SAFETY: as above.
        let ns = least(|| unsafe {
            match operands {
                Operands::None => _ = Handle::event(h, kind),
                Operands::Untimed => {
                    let end = Handle::head(h, kind, (*h).last);
                    Handle::commit(h, end);
                }
                Operands::Site => _ = Handle::event_with(h, kind, [17]),
                Operands::Task => _ = Handle::event_with(h, kind, [1, 123_456]),
                Operands::Scoped => _ = Handle::event_with(h, kind, [5, 17, 1, 4_321]),
            }
        });
        RecordCost {
            record: name.into(),
            ns,
        }
    });
    Probes {
        clock_ns,
        records: records.into(),
    }
}

#[derive(Clone, Copy)]
enum Operands {
    None,
    Untimed,
    Site,
    Task,
    Scoped,
}

/// Starts the buffer again, at the point where the recorder would take a new chunk.
extern "C" fn rewind(handle: *mut Handle) {
    // SAFETY: only called by `Handle::head` with the live handle above.
    unsafe { (*handle).cursor = (*handle).base };
}

/// Nanoseconds per call, the minimum over batches.
fn least(mut call: impl FnMut()) -> f64 {
    (0..BATCHES)
        .map(|_| {
            let begun = Instant::now();
            for _ in 0..BATCH {
                call();
            }
            begun.elapsed().as_nanos() as f64 / f64::from(BATCH)
        })
        .fold(f64::INFINITY, f64::min)
}
