//! The bytes on disk. A change here is a change of the format: readers must still understand old
//! files, or the version goes up. `WORKSPAN_UPDATE=1 cargo test -p workspan-trace` rewrites the
//! snapshot.

use std::fmt::Write;

use crate::sample;
use workspan_trace::event::{Event, Events, WaitFor};
use workspan_trace::wire::Kind;
use workspan_trace::{ChunkKind, Tolerance, Trace};

/// A dump with offset, bytes and characters, without runs of zero lines.
fn hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for (i, line) in bytes.chunks(16).enumerate() {
        if line.iter().any(|&b| b != 0) {
            let hex: Vec<String> = line.iter().map(|b| format!("{b:02x}")).collect();
            let shown = |&b: &u8| {
                if b.is_ascii_graphic() || b == b' ' {
                    char::from(b)
                } else {
                    '.'
                }
            };
            let characters: String = line.iter().map(shown).collect();
            let line = format!("{:06x}  {:<47}  {characters}", i * 16, hex.join(" "));
            let _ = writeln!(text, "{}", line.trim_end());
        }
    }
    text
}

#[test]
fn is_the_committed_one() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/format.hex");
    let found = hex(&sample::file());
    if std::env::var_os("WORKSPAN_UPDATE").is_some() {
        std::fs::write(path, &found).unwrap();
    }
    let expected = std::fs::read_to_string(path).unwrap();
    assert!(found == expected, "the bytes on disk changed:\n{found}");
}

#[test]
fn every_kind_of_record_comes_back() {
    let events = sample::events();
    let decoded: Vec<(u64, Event<'_>)> = Events::new(&events, 1000).collect();
    assert_eq!(decoded.len(), 60);
    assert_eq!(decoded[0], (1000, Event::Root));
    assert_eq!(decoded[2], (1310, Event::Join { site: 2 }));
    assert_eq!(decoded[5], (20_071_310, Event::EndResume));
    assert_eq!(
        decoded[7].1,
        Event::Create {
            kind: 1,
            site: 2,
            scope: Some((0, 0))
        }
    );
    assert_eq!(
        decoded[14].1,
        Event::Counter {
            label: 2,
            value: 1 << 60
        }
    );
    let lists: Vec<Vec<(u32, u64)>> = decoded
        .iter()
        .filter_map(|(_, event)| match event {
            Event::Wait {
                what: WaitFor::Tasks(list) | WaitFor::Signals(list),
                ..
            } => Some(list.iter().collect()),
            _ => None,
        })
        .collect();
    assert_eq!(lists, [vec![(0, 3), (0, 4)], vec![(0, 77)]]);
    assert_eq!(decoded[40].1, Event::Team { site: 2 });
    let (team, phase, index) = ((0, 1), 0, 3);
    assert_eq!(decoded[41].1, Event::Member { team, phase, index });
    let Event::Depends { task: (0, 5), on } = decoded[43].1 else {
        panic!("{:?}", decoded[43]);
    };
    let accesses: Vec<(u32, u64)> = on.iter().collect();
    assert_eq!(accesses, [(1, 1 << 46), (2, 0x7ffe_0000_1234)]);
    let Event::Wait {
        site: None,
        what: WaitFor::Dependences(on),
    } = decoded[44].1
    else {
        panic!("{:?}", decoded[44]);
    };
    assert_eq!(on.iter().collect::<Vec<_>>(), [(2, 1 << 46)]);
    let (last, before) = (decoded[decoded.len() - 1].0, decoded[decoded.len() - 2].0);
    assert_eq!(last - before, (1 << 55) + 1);
    for code in 0..35 {
        assert_eq!(Kind::from_code(code).map(|k| k as u8), Some(code));
    }
}

#[test]
fn a_cut_record_ends_the_walk_and_says_so() {
    let events = sample::events();
    for cut in 0..events.len() {
        let mut walk = Events::new(&events[..cut], 0);
        let read = walk.by_ref().count();
        assert!(walk.offset() <= cut);
        assert_eq!(
            walk.is_bad(),
            walk.offset() != cut,
            "cut to {cut} after {read} records"
        );
    }
}

#[test]
fn all_chunks_come_back_and_in_order() {
    let file = sample::file();
    let trace = Trace::open(&file).unwrap();
    let chunks: Vec<_> = trace
        .chunks(Tolerance::Strict)
        .collect::<Result<_, _>>()
        .unwrap();
    let kinds: Vec<ChunkKind> = chunks.iter().map(|c| c.kind).collect();
    use ChunkKind::*;
    assert_eq!(
        kinds,
        [
            Events, Sites, Labels, Notes, Maps, Clock, Places, Threads, Finished, OffCpu
        ]
    );
    assert!(chunks.iter().all(|c| c.sealed));
    assert_eq!(trace.header.length, file.len() as u64);
}
