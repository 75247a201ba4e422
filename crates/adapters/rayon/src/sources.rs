//! The stand-in's source text, which is embedded in the tool.

use crate::hooks;
use std::io;
use std::path::{Path, PathBuf};

/// File names and texts; `lib.rs` is the crate's root. `wire.rs`, `abi.rs`, `budget.rs` and its
/// folder are the recorder's own files.
pub const FILES: [(&str, &str); 25] = [
    ("lib.rs", include_str!("../stand-in/lib.rs")),
    ("broadcast.rs", include_str!("../stand-in/broadcast.rs")),
    ("builder.rs", include_str!("../stand-in/builder.rs")),
    ("call_site.rs", include_str!("../stand-in/call_site.rs")),
    (
        "configuration.rs",
        include_str!("../stand-in/configuration.rs"),
    ),
    (
        "passthrough_join.rs",
        include_str!("../stand-in/passthrough_join.rs"),
    ),
    ("install.rs", include_str!("../stand-in/install.rs")),
    ("join.rs", include_str!("../stand-in/join.rs")),
    ("pool.rs", include_str!("../stand-in/pool.rs")),
    ("recording.rs", include_str!("../stand-in/recording.rs")),
    ("scope.rs", include_str!("../stand-in/scope.rs")),
    (
        "scheduler_hooks.rs",
        include_str!("../stand-in/scheduler_hooks.rs"),
    ),
    ("spawn.rs", include_str!("../stand-in/spawn.rs")),
    ("stack_walk.rs", include_str!("../stand-in/stack_walk.rs")),
    ("task.rs", include_str!("../stand-in/task.rs")),
    ("worker.rs", include_str!("../stand-in/worker.rs")),
    ("yield_now.rs", include_str!("../stand-in/yield_now.rs")),
    (
        "skipped_subtree.rs",
        include_str!("../stand-in/skipped_subtree.rs"),
    ),
    ("budget.rs", include_str!("../shared/budget.rs")),
    ("budget/class.rs", include_str!("../shared/budget/class.rs")),
    (
        "budget/cost_comparison.rs",
        include_str!("../shared/budget/cost_comparison.rs"),
    ),
    (
        "budget/decision.rs",
        include_str!("../shared/budget/decision.rs"),
    ),
    ("budget/watch.rs", include_str!("../shared/budget/watch.rs")),
    ("wire.rs", include_str!("../shared/wire.rs")),
    ("abi.rs", include_str!("../shared/abi.rs")),
];

/// A hash of the stand-in's and the hooks' texts (FNV-1a, 64 bits). It is part of the name of
/// everything that is built from them.
#[must_use]
pub fn fingerprint() -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for (name, text) in FILES.into_iter().chain(hooks::texts()) {
        for byte in name.bytes().chain([0]).chain(text.bytes()).chain([0]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    hash
}

/// Writes the stand-in's files into `folder`, which is made if needed, and returns the path of its
/// `lib.rs`. A file that already has the same text is left alone, so its time does not change.
///
/// # Errors
/// The file system's error.
pub fn unpack(folder: &Path) -> io::Result<PathBuf> {
    for (name, text) in FILES {
        let path = folder.join(name);
        if std::fs::read(&path).is_ok_and(|there| there == text.as_bytes()) {
            continue;
        }
        // A rename, so that a concurrent build never reads half a file.
        let half = path.with_extension(format!("rs.{}", std::process::id()));
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(&half, text)?;
        std::fs::rename(&half, &path)?;
    }
    Ok(folder.join("lib.rs"))
}
