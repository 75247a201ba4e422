//! Puts the built page (`ui/dist/index.html`, by `cargo xtask ui`) where the crate embeds it from. It never builds the page itself:
//! without one the crate embeds an empty file and says how to get it (`page.rs`).

use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    // A package carries the page beside its own sources.
    let built = [
        here.join("page/index.html"),
        here.join("../../ui/dist/index.html"),
    ];
    let there = built.iter().find(|path| path.is_file());
    // A file that is not there counts as changed each time, and everything above this crate would be built again.
    for path in built.iter().filter(|&path| there.is_none_or(|t| t == path)) {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    let page = there.and_then(|path| fs::read(path).ok());
    let out = Path::new(&env::var_os("OUT_DIR").unwrap_or_default()).join("index.html");
    if let Err(error) = fs::write(&out, page.unwrap_or_default()) {
        println!("cargo::error={}: can't be written: {error}", out.display());
    }
}
