//! A small trace with fixed values: every kind of chunk and every kind of record.

use std::io::Cursor;

use workspan_trace::entry::{
    ClockPair, Finished, Label, Mapping, Note, OffCpu, PlaceEntry, Site, SitePosition, ThreadEntry,
    push_varint,
};
use workspan_trace::folded::{FoldedRecord, FoldedSite};
use workspan_trace::wire::{Kind, put_head};
use workspan_trace::{ChunkKind, ClockKind, FileHeader, TraceWriter};

/// Appends a record.
pub fn record(out: &mut Vec<u8>, kind: Kind, delta: u64, operands: &[u64]) {
    let mut room = [0u8; 16];
    // SAFETY: a head takes 9 bytes at most.
    let end = unsafe { put_head(room.as_mut_ptr(), kind, delta) };
    let length = end as usize - room.as_ptr() as usize;
    out.extend_from_slice(&room[..length]);
    for &v in operands {
        push_varint(out, v);
    }
}

/// One record of every kind, with operands small and large.
pub fn events() -> Vec<u8> {
    let folded = FoldedRecord {
        work: 900,
        span: 500,
        envelope: vec![(500, 2), (450, 5)],
        tasks: 14,
        spawns: 7,
        syncs: 7,
        strands: 35,
        levels: 3,
        ready_integral: 1234,
        sites: vec![FoldedSite {
            site: 2,
            count: 14,
            work: 800,
            span: 400,
            critical_work: 390,
            lengths: vec![0, 6, 8],
        }],
        blocks: vec![(0, 3, 100), (3, 3, 800)],
        probes: 0,
        between: 0,
        off_cpu: 0,
        folding_off_cpu: 0,
        source: None,
    };
    let mut bytes = Vec::new();
    folded.encode(&mut bytes);
    let mut out = Vec::new();
    let mut put = |kind, delta, operands: &[u64]| record(&mut out, kind, delta, operands);
    put(Kind::Root, 0, &[]);
    put(Kind::Pool, 10, &[0, 2]);
    put(Kind::Join, 300, &[2]);
    put(Kind::End, 70_000, &[]);
    put(Kind::Next, 0, &[]);
    put(Kind::EndResume, 20_000_000, &[]);
    put(Kind::Scope, 1, &[1]);
    put(Kind::Create, 1, &[1 | 4, 2, 0, 0]);
    put(Kind::Create, 1, &[2, 1]);
    put(Kind::Create, 1, &[3, 0]);
    put(Kind::Begin, 1, &[0, 3]);
    put(Kind::Depend, 0, &[0, 4, 0, 3]);
    put(Kind::RegionBegin, 1, &[0, 1]);
    put(Kind::PartBegin, 1, &[1]);
    put(Kind::Counter, 0, &[2, 1 << 60]);
    put(Kind::Signal, 1, &[3, 77]);
    put(Kind::PartEnd, 1, &[1]);
    put(Kind::RegionEnd, 1, &[0]);
    put(Kind::End, 1, &[]);
    put(Kind::Wait, 1, &[3, 1, 0, 0]);
    put(Kind::Resume, 1, &[]);
    put(Kind::Wait, 1, &[0, 0]);
    put(Kind::Resume, 1, &[]);
    put(Kind::Wait, 1, &[0, 2, 2, 0, 3, 0, 4]);
    put(Kind::Resume, 1, &[]);
    put(Kind::Wait, 1, &[0, 3, 1, 77]);
    put(Kind::Resume, 1, &[]);
    put(Kind::Yield, 1, &[0]);
    put(Kind::Resume, 1, &[]);
    put(Kind::Folded, 0, &[bytes.len() as u64]);
    out.extend_from_slice(&bytes);
    let mut put = |kind, delta, operands: &[u64]| record(&mut out, kind, delta, operands);
    put(Kind::Leave, 1 << 40, &[3]);
    put(Kind::ResumeYielded, 1, &[0, 1]);
    put(Kind::Steal, 1, &[2, 1, 0, 4]);
    put(Kind::StealFailed, 1, &[0]);
    put(Kind::Sleep, 1, &[]);
    put(Kind::Wake, 1, &[]);
    put(Kind::Worker, 1, &[0, 1]);
    put(Kind::WorkerEnd, 1, &[]);
    put(Kind::PoolEnd, 1, &[0]);
    put(Kind::Off, 1, &[1, 500]);
    put(Kind::Team, 300, &[2]);
    put(Kind::Member, 1, &[0, 1, 0, 3]);
    put(Kind::Create, 1, &[1, 2]);
    put(
        Kind::Depends,
        0,
        &[0, 5, 2, 1, 1 << 46, 2, 0x7ffe_0000_1234],
    );
    put(Kind::Wait, 1, &[0, 4, 1, 2, 1 << 46]);
    put(Kind::Leave, 1, &[0]);
    put(Kind::Resume, 1, &[]);
    put(Kind::ResumeStopped, 200, &[1, 1 << 40]);
    put(Kind::ResumeStopped, 1, &[0, 77]);
    put(Kind::SampleBegin, 0, &[2, 9]);
    put(Kind::SkipBegin, 300, &[2, 9]);
    put(Kind::StolenPart, 1, &[0, 2, 2]);
    put(Kind::End, 1, &[]);
    put(Kind::Wait, 1, &[0, 5]);
    put(Kind::Resume, 1, &[]);
    put(Kind::SkippedTasks, 0, &[70_000]);
    put(Kind::SkipEnd, 1, &[]);
    put(Kind::Skip, 0, &[300, 2]);
    put(Kind::Restart, 0, &[9, 1, 1, 2, 1, 0]);
    put(Kind::End, (1 << 55) + 1, &[]);
    out
}

/// The file.
pub fn file() -> Vec<u8> {
    let header = FileHeader {
        clock: ClockKind::Tsc,
        pid: 4711,
        page_size: 4096,
        realtime_ns: 1_795_219_199_000_000_000,
        start_ticks: 1_000_000,
        start_ns: 500_000,
        length: 0,
        dropped: 0,
        lack: workspan_trace::header::ExhaustedResource::Disk,
    };
    let mut writer = TraceWriter::new(Cursor::new(Vec::new()), header).unwrap();
    writer
        .events(0, 0, (1_000_000, 500_000), &events())
        .unwrap();
    let sites = [
        SitePosition::Label("?".into()),
        SitePosition::Location {
            file: "src/main.rs".into(),
            line: 12,
            column: 5,
        },
        SitePosition::Stack {
            addresses: vec![0x5555_0000_1234, 0x7fff_1234_5678],
            file: "rayon.rs".into(),
            line: 410,
        },
        SitePosition::Address {
            address: 0x5555_0000_4321,
            is_return: true,
        },
        SitePosition::Calls {
            addresses: vec![0x5555_0000_4400, 0x5555_0000_4500],
            name: "_ZTS6MyTask".into(),
        },
    ];
    let sites = (0..).zip(sites).map(|(id, position)| Site {
        id,
        primitive: 1,
        position,
    });
    writer
        .all_entries(ChunkKind::Sites, sites, Site::encode)
        .unwrap();
    let labels = (0..)
        .zip(["tree", "solve", "instructions"])
        .map(|(id, text)| Label {
            id,
            text: text.into(),
        });
    writer
        .all_entries(ChunkKind::Labels, labels, Label::encode)
        .unwrap();
    let notes = [
        Note::new("name", "sample"),
        Note::new("runtime", "Rayon 1.13.0"),
    ];
    writer
        .all_entries(ChunkKind::Notes, notes, Note::encode)
        .unwrap();
    let map = Mapping {
        start: 0x5555_0000_0000,
        end: 0x5555_0001_0000,
        bias: 0x5554_ffff_f000,
        file_offset: 4096,
        path: "/opt/sample".into(),
        build_id: vec![0xab; 20],
    };
    writer
        .all_entries(ChunkKind::Maps, [map], Mapping::encode)
        .unwrap();
    let pairs = [
        ClockPair {
            ticks: 1_000_000,
            ns: 500_000,
        },
        ClockPair {
            ticks: 3_000_000,
            ns: 1_500_000,
        },
    ];
    writer
        .all_entries(ChunkKind::Clock, pairs, ClockPair::encode)
        .unwrap();
    let place = PlaceEntry {
        site: 2,
        label: "src/main.rs:40".into(),
        file: Some("src/main.rs".into()),
        line: Some(40),
        function: Some("main::sum".into()),
        primitive: Some("join".into()),
        source: None,
    };
    writer
        .all_entries(ChunkKind::Places, [place], PlaceEntry::encode)
        .unwrap();
    let thread = ThreadEntry {
        waited_ns: 70_000,
        thread: 0,
        tid: 4711,
        start_ticks: 1_000_000,
        name: "main".into(),
    };
    writer
        .all_entries(ChunkKind::Threads, [thread], ThreadEntry::encode)
        .unwrap();
    let end = Finished {
        ticks: u64::MAX >> 1,
        ns: 9_000_000,
        dropped: 0,
        threads: 1,
    };
    writer
        .all_entries(ChunkKind::Finished, [end], Finished::encode)
        .unwrap();
    let off = OffCpu {
        thread: 0,
        from: 1_000,
        to: 9_000,
        preempted_ns: 300,
        blocked_ns: 70_000,
    };
    writer
        .all_entries(ChunkKind::OffCpu, [off], OffCpu::encode)
        .unwrap();
    writer.finish().unwrap().into_inner()
}
