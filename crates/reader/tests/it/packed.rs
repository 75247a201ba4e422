//! Text traces packed by gzip.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use workspan_dag::{Dag, Error};
use workspan_reader::{OpenOptions, open};

const TEXT: &str = r#"{"workspan_trace":1,"workers":1,"time_unit":"ns","steals":"child"}
{"ev":"begin","t":0,"w":0,"task":0}
{"ev":"create","t":5,"w":0,"task":0,"child":1,"site":"a.rs:1"}
{"ev":"resume","t":5,"w":0,"task":0}
{"ev":"wait","t":7,"w":0,"task":0}
{"ev":"begin","t":7,"w":0,"task":1}
{"ev":"end","t":9,"w":0,"task":1}
{"ev":"resume","t":9,"w":0,"task":0}
{"ev":"end","t":11,"w":0,"task":0}
"#;

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Compression::best());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

fn read(bytes: &[u8], options: &OpenOptions) -> Result<Dag, Error> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.jsonl.gz");
    std::fs::write(&file, bytes).unwrap();
    open(&file, options)
}

#[test]
fn a_packed_trace_is_the_same_run() {
    let dag = read(&packed(TEXT.as_bytes()), &OpenOptions::default()).unwrap();
    assert_eq!(dag, workspan_reader::text::read_str(TEXT).unwrap());
}

#[test]
fn damage_and_what_unpacks_without_end_are_refused() {
    let options = OpenOptions::default();
    let whole = packed(TEXT.as_bytes());
    for cut in 2..whole.len() {
        let error = read(&whole[..cut], &options).unwrap_err().to_string();
        assert!(error.contains("can't be uncompressed"), "{cut}: {error}");
        let allowed = OpenOptions {
            allow_truncated: true,
            ..OpenOptions::default()
        };
        // The part before the cut, or an error; never a panic.
        let _ = read(&whole[..cut], &allowed);
    }
    let zeros = packed(&[TEXT.as_bytes(), &vec![b' '; 1 << 25]].concat());
    let error = read(&zeros, &options).unwrap_err().to_string();
    assert!(error.contains("times its size"), "{error}");
}
