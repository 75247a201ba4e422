//! Tells the CLI's build script where these sources are: it compiles them with plain rustc
//! (`DEP_WORKSPAN_RECORDER_SOURCE`).

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!(
        "cargo:source={}",
        std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default()
    );
}
