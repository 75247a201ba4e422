//! Real programs, built here, stripped and unstripped, and damaged ones.

use std::path::{Path, PathBuf};
use std::process::Command;

use workspan_symbols::{Mapping, Position, Site, Workspace, resolve};

/// Builds the fixture as cargo builds a workspace's member: from its root, by a relative path.
fn build(directory: &Path, flags: &[&str]) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixture");
    let program = directory.join("stack program");
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let status = Command::new(rustc)
        .current_dir(root)
        .args(["--edition", "2024", "-Copt-level=3", "src/stack.rs", "-o"])
        .arg(&program)
        .args(flags)
        .status()
        .unwrap();
    assert!(status.success());
    program
}

/// Runs it: its mappings and the stack it prints.
fn run(program: &Path) -> (Vec<Mapping>, Vec<u64>) {
    let output = Command::new(program).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let hex = |s: &str| u64::from_str_radix(s, 16).unwrap();
    let mappings = text
        .lines()
        .filter_map(|l| l.strip_prefix("map "))
        .map(|l| {
            let fields: Vec<&str> = l.splitn(6, ' ').collect();
            let (start, end) = fields[0].split_once('-').unwrap();
            Mapping {
                start: hex(start),
                end: hex(end),
                offset: hex(fields[2]),
                path: l.find('/').map_or_else(PathBuf::new, |at| l[at..].into()),
                build_id: Vec::new(),
            }
        })
        .collect();
    (
        mappings,
        text.lines()
            .filter_map(|l| l.strip_prefix("pc "))
            .map(|l| l.parse().unwrap())
            .collect(),
    )
}

fn stack(addresses: &[u64]) -> Site {
    Site::Stack {
        addresses: addresses.to_vec(),
        inherited: None,
        library: Some(("/x/registry/src/i/rayon-1.12.0/src/a.rs".into(), 3)),
    }
}

fn one(site: Site, mappings: &[Mapping], workspace: &Workspace) -> Position {
    resolve(&[site], mappings, workspace).positions.remove(0)
}

#[test]
fn stacks_through_inlining_and_closures() {
    let directory = tempfile::tempdir().unwrap();
    let program = build(directory.path(), &["-Cdebuginfo=line-tables-only"]);
    let (mappings, addresses) = run(&program);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixture");
    let workspace = Workspace {
        root: Some(root),
        members: vec![],
    };

    // The innermost address is `capture` itself; the next one is three functions deep in inlined
    // code.
    let inner = one(stack(&addresses[1..]), &mappings, &workspace);
    assert_eq!(inner.label, "src/stack.rs:27");
    assert_eq!(inner.function.as_deref(), Some("inlined"));
    assert_eq!(inner.source.as_deref(), Some("capture();"));
    assert_eq!(inner.file.as_deref(), Some("src/stack.rs"));

    // Only frames of the standard library and the C library: the library's own call, unless the
    // calling task has a site.
    let last = &addresses[addresses.len() - 2..];
    assert_eq!(
        one(stack(last), &mappings, &workspace).label,
        "rayon-1.12.0/src/a.rs:3"
    );
    let inheriting = |addresses: &[u64], from: usize| Site::Stack {
        addresses: addresses.to_vec(),
        inherited: Some(from),
        library: None,
    };
    let sites = [
        inheriting(last, 1),
        inheriting(last, 2),
        Site::Label("parent".into()),
        inheriting(&addresses[1..], 2),
        inheriting(last, 4),
    ];
    let labels: Vec<String> = resolve(&sites, &mappings, &workspace)
        .positions
        .into_iter()
        .map(|p| p.label)
        .collect();
    assert_eq!(
        labels[..4],
        ["parent", "parent", "parent", "src/stack.rs:27"]
    );
    assert!(
        labels[4].contains("+0x"),
        "one that inherits from itself: {}",
        labels[4]
    );

    // A position the compiler gave, with the function that holds it.
    let here = one(
        Site::Location {
            file: "src/stack.rs".into(),
            line: 33,
        },
        &mappings,
        &workspace,
    );
    assert_eq!(
        (here.label.as_str(), here.function.as_deref()),
        ("src/stack.rs:33", Some("generic"))
    );
}

#[test]
fn a_program_may_be_called_like_a_crate_of_the_standard_library() {
    let directory = tempfile::tempdir().unwrap();
    let flags = ["-Cdebuginfo=line-tables-only", "--crate-name", "alloc"];
    let program = build(directory.path(), &flags);
    let (mappings, addresses) = run(&program);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixture");
    let workspace = Workspace {
        root: Some(root),
        members: vec![],
    };
    let inner = one(stack(&addresses[1..]), &mappings, &workspace);
    assert_eq!(inner.label, "src/stack.rs:27");
}

#[test]
fn without_debug_information_the_symbol_and_without_symbols_the_offset() {
    let directory = tempfile::tempdir().unwrap();
    let program = build(directory.path(), &["-Cdebuginfo=0", "-Cstrip=none"]);
    let (mappings, addresses) = run(&program);
    let named = one(stack(&addresses[1..]), &mappings, &Workspace::default());
    assert_eq!(named.label, "stack::generic");

    let program = build(directory.path(), &["-Cdebuginfo=0", "-Cstrip=symbols"]);
    let (mappings, addresses) = run(&program);
    let site = Site::Stack {
        addresses: addresses[1..2].to_vec(),
        inherited: None,
        library: None,
    };
    let stripped = resolve(
        std::slice::from_ref(&site),
        &mappings,
        &Workspace::default(),
    );
    assert!(
        stripped
            .warnings
            .iter()
            .any(|w| w.contains("has no line tables")),
        "{:?}",
        stripped.warnings
    );
    let bare = one(site, &mappings, &Workspace::default());
    assert!(bare.label.starts_with("stack program+0x"), "{}", bare.label);
}

#[test]
fn broken_modules_are_said_and_never_panic() {
    let directory = tempfile::tempdir().unwrap();
    let program = build(directory.path(), &["-Cdebuginfo=line-tables-only"]);
    let (mut mappings, addresses) = run(&program);
    let bytes = std::fs::read(&program).unwrap();
    let broken = directory.path().join("broken");
    for mapping in &mut mappings {
        if mapping.path == program {
            mapping.path = broken.clone();
        }
    }
    let sites = [
        stack(&addresses),
        Site::Location {
            file: "src/stack.rs".into(),
            line: 33,
        },
    ];
    // Anything from a few flipped bits to a cut file; a plain generator, so that a failure comes
    // back.
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    for round in 0..24 {
        let mut damaged = bytes.clone();
        match round % 4 {
            0 => damaged.truncate(random(bytes.len())),
            1 => (0..4).for_each(|_| damaged[random(64)] = random(256) as u8),
            2 => (0..2000).for_each(|_| damaged[random(bytes.len())] ^= 1 << random(8)),
            // The section headers and what is before them, where sizes and offsets stand.
            _ => (0..40).for_each(|_| damaged[bytes.len() - 1 - random(2500)] = random(256) as u8),
        }
        std::fs::write(&broken, &damaged).unwrap();
        assert_eq!(
            resolve(&sites, &mappings, &Workspace::default())
                .positions
                .len(),
            2
        );
    }
    std::fs::remove_file(&broken).unwrap();
    let gone = resolve(&sites, &mappings, &Workspace::default());
    assert!(
        gone.warnings
            .iter()
            .any(|w| w.contains("can't be opened any more")),
        "{:?}",
        gone.warnings
    );
    assert_eq!(gone.positions[1].label, "src/stack.rs:33");
}
