use super::*;

#[test]
fn comes_back_as_written_and_never_from_a_cut_record() {
    let record = FoldedRecord {
        work: 1_000_000,
        span: 70_000,
        envelope: vec![(70_000, 3), (60_000, 12)],
        tasks: 511,
        spawns: 255,
        syncs: 255,
        strands: 1_021,
        levels: 9,
        ready_integral: u64::MAX,
        sites: vec![FoldedSite {
            site: 4,
            count: 510,
            work: 900_000,
            span: 60_000,
            critical_work: 50_000,
            lengths: vec![0, 0, 12, 498],
        }],
        blocks: vec![(0, 5, 100_000), (5, 5, 900_000)],
        probes: 0,
        between: 0,
        off_cpu: 0,
        folding_off_cpu: 0,
        source: None,
    };
    let mut bytes = Vec::new();
    record.encode(&mut bytes);
    assert_eq!(FoldedRecord::decode(&bytes).as_ref(), Some(&record));
    for cut in 0..bytes.len() {
        assert_eq!(FoldedRecord::decode(&bytes[..cut]), None, "cut to {cut}");
    }
    let net = FoldedRecord {
        probes: 300,
        ..record
    };
    bytes.clear();
    net.encode(&mut bytes);
    assert_eq!(FoldedRecord::decode(&bytes).as_ref(), Some(&net));
    let read = FoldedRecord {
        between: 1 << 33,
        off_cpu: 77,
        folding_off_cpu: 1 << 40,
        source: Some((1 << 40, 7)),
        ..net
    };
    bytes.clear();
    read.encode(&mut bytes);
    assert_eq!(FoldedRecord::decode(&bytes).as_ref(), Some(&read));
    for at in 0..bytes.len() {
        assert_eq!(FoldedRecord::decode(&bytes[..at]), None, "cut to {at}");
    }
}

#[test]
fn what_does_not_follow_from_the_rest_is_in_it() {
    let site = |count, work, lengths: &[u64]| FoldedSite {
        site: 9,
        count,
        work,
        lengths: lengths.to_vec(),
        ..FoldedSite::default()
    };
    let joins = FoldedRecord {
        work: 900,
        span: 70,
        envelope: vec![(70, 0), (60, 2)],
        tasks: 6,
        spawns: 3,
        syncs: 3,
        strands: 10,
        sites: vec![site(6, 880, &[0, 0, 6])],
        blocks: vec![(0, 10, 400), (10, 10, 500)],
        ..FoldedRecord::default()
    };
    let odd = [
        FoldedRecord::default(),
        joins.clone(),
        FoldedRecord {
            span: 71,
            ..joins.clone()
        },
        FoldedRecord {
            envelope: vec![],
            ..joins.clone()
        },
        // Records that no recorder writes are read back unchanged, too.
        FoldedRecord {
            envelope: vec![(1, 9), (u64::MAX, 0)],
            ..joins.clone()
        },
        FoldedRecord {
            tasks: 7,
            ..joins.clone()
        },
        FoldedRecord {
            syncs: 2,
            ..joins.clone()
        },
        FoldedRecord {
            strands: 11,
            ..joins.clone()
        },
        // Blocks that are out of order, that are repeated, and whose places are not among the
        // sites.
        FoldedRecord {
            blocks: vec![(10, 10, 400), (0, 10, 500)],
            ..joins.clone()
        },
        FoldedRecord {
            blocks: vec![(0, 10, 400), (0, 10, 500)],
            ..joins.clone()
        },
        FoldedRecord {
            blocks: vec![(0, 10, 400), (10, 11, 500)],
            ..joins.clone()
        },
        FoldedRecord {
            sites: (1..9)
                .map(|n| FoldedSite {
                    site: n,
                    ..site(1, 1, &[1])
                })
                .collect(),
            ..joins.clone()
        },
        FoldedRecord {
            sites: vec![FoldedSite {
                site: u32::MAX,
                ..site(1, 1, &[1])
            }],
            ..joins.clone()
        },
        FoldedRecord {
            spawns: u64::MAX,
            syncs: u64::MAX,
            ..joins.clone()
        },
        FoldedRecord {
            work: 901,
            ..joins.clone()
        },
        FoldedRecord {
            work: 0,
            ..joins.clone()
        },
        FoldedRecord {
            blocks: vec![],
            ..joins.clone()
        },
        FoldedRecord {
            blocks: vec![(0, 0, u64::MAX), (1, 1, 901)],
            ..joins.clone()
        },
        FoldedRecord {
            sites: vec![site(5, u64::MAX, &[0, 6])],
            ..joins.clone()
        },
        FoldedRecord {
            sites: vec![site(0, 0, &[]), site(2, 1, &[1, 1])],
            ..joins.clone()
        },
        FoldedRecord {
            sites: vec![site(0, 0, &[0, 0])],
            ..joins.clone()
        },
        FoldedRecord {
            sites: vec![site(1, 0, &[u64::MAX, 2]), site(2, 0, &[0; 40])],
            ..joins
        },
    ];
    for record in odd {
        let mut bytes = Vec::new();
        record.encode(&mut bytes);
        assert_eq!(FoldedRecord::decode(&bytes), Some(record));
    }
}
