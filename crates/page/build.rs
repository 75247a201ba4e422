//! Stops an optimised build in a checkout that has no page and cannot build it. The script of
//! `workspan-view` would stop it too, minutes later.

#[allow(dead_code, reason = "the script of `workspan-view` uses the rest")]
#[path = "src/lib.rs"]
mod page;

use std::env;
use std::path::PathBuf;

fn main() {
    println!("cargo::rerun-if-env-changed=WORKSPAN_PAGE");
    // Not if the page changes: all crates of the tool would be compiled again.
    println!("cargo::rerun-if-changed=build.rs");
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let view = here.join("../view");
    // Outside of a checkout, the package of `workspan-view` has the page.
    if page::is_checkout(&view)
        && let Err(why) = page::page_source(&view)
    {
        println!("cargo::error={why}");
    }
}
