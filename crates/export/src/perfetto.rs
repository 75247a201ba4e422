//! Writes a run for Perfetto (ui.perfetto.dev), in its own protobuf format.
//!
//! Each thread has a track with a slice for every strand. A slice has the name of its code, the
//! spawn site as category, and task and level as arguments. Flows lead to a stolen strand from the
//! one that made it ready. The counters are the numbers of running and ready strands.

mod message;

use std::io::{self, Write};

use prost::Message;
use workspan_analysis::{Error, Options};
use workspan_dag::{Dag, StrandId};

use crate::tracks::Tracks;
use message::{
    CounterDescriptor, DebugAnnotation, Interned, InternedData, ProcessDescriptor,
    ThreadDescriptor, Trace, TraceEventKind, TracePacket, TrackDescriptor, TrackEvent,
};

/// The only sequence of packets.
const SEQUENCE: u32 = 1;
/// Numbers of the tracks: the process, counters, then threads and region lanes.
const PROCESS: u64 = 1;
const RUNNING: u64 = 2;
const READY: u64 = 3;
const THREADS: u64 = 16;
const REGIONS: u64 = 1 << 32;
/// Flags of a packet: the table of names starts anew; names are needed.
const CLEARED: u32 = 1;
const NEEDS_NAMES: u32 = 2;
/// Names of arguments.
const ARGUMENTS: [&str; 3] = ["task", "strand", "level"];

/// Prepares a run for writing.
///
/// # Errors
/// The run can't be measured with these options.
pub fn perfetto<'a>(dag: &'a Dag, options: &Options) -> Result<Perfetto<'a>, Error> {
    Tracks::new(dag, options).map(|tracks| Perfetto { tracks })
}

/// A run, ready to be written.
pub struct Perfetto<'a> {
    tracks: Tracks<'a>,
}

impl Perfetto<'_> {
    /// Writes the run.
    ///
    /// # Errors
    /// Writing to `out` failed.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let mut writer = Writer {
            tracks: &self.tracks,
            out,
        };
        writer.descriptors()?;
        writer.strands()?;
        writer.regions()?;
        writer.counters()
    }
}

struct Writer<'a, W> {
    tracks: &'a Tracks<'a>,
    out: &'a mut W,
}

impl<W: Write> Writer<'_, W> {
    fn packet(&mut self, packet: TracePacket) -> io::Result<()> {
        let trace = Trace {
            packet: vec![TracePacket {
                trusted_packet_sequence_id: SEQUENCE,
                ..packet
            }],
        };
        self.out.write_all(&trace.encode_to_vec())
    }

    fn track(&mut self, track: TrackDescriptor) -> io::Result<()> {
        self.packet(TracePacket {
            track_descriptor: Some(track),
            ..TracePacket::default()
        })
    }

    fn event(&mut self, t: u64, event: TrackEvent) -> io::Result<()> {
        let timestamp = Some(self.tracks.ns(t));
        self.packet(TracePacket {
            timestamp,
            track_event: Some(event),
            sequence_flags: Some(NEEDS_NAMES),
            ..TracePacket::default()
        })
    }

    /// Writes the tracks, and the names that slices refer to.
    fn descriptors(&mut self) -> io::Result<()> {
        let tracks = self.tracks;
        self.track(TrackDescriptor {
            uuid: PROCESS,
            process: Some(ProcessDescriptor {
                pid: 1,
                process_name: tracks.process_name().to_owned(),
            }),
            ..TrackDescriptor::default()
        })?;
        for (uuid, name) in [(RUNNING, "running strands"), (READY, "ready strands")] {
            self.track(TrackDescriptor {
                uuid,
                name: Some(name.to_owned()),
                parent_uuid: Some(PROCESS),
                counter: Some(CounterDescriptor {
                    unit_name: "strands".to_owned(),
                }),
                ..TrackDescriptor::default()
            })?;
        }
        for &thread in &tracks.threads {
            self.track(TrackDescriptor {
                uuid: THREADS + u64::from(thread),
                parent_uuid: Some(PROCESS),
                thread: Some(ThreadDescriptor {
                    pid: 1,
                    // The process's own number is its main thread's, which need not be a worker.
                    tid: thread as i32 + 2,
                    thread_name: tracks.thread_name(thread),
                }),
                ..TrackDescriptor::default()
            })?;
        }
        for lane in 0..tracks.regions.len() as u64 {
            self.track(TrackDescriptor {
                uuid: REGIONS + lane,
                name: Some("regions".to_owned()),
                parent_uuid: Some(PROCESS),
                ..TrackDescriptor::default()
            })?;
        }
        let named = |(iid, name): (u64, &str)| Interned {
            iid,
            name: name.to_owned(),
        };
        let codes = tracks.codes.all.iter().map(|code| code.label.as_str());
        let labels = tracks.dag.labels.iter().map(String::as_str);
        let places = tracks.dag.places.iter().map(|place| place.label.as_str());
        let names = InternedData {
            event_categories: (1..).zip(places).map(named).collect(),
            event_names: (1..).zip(codes.chain(labels)).map(named).collect(),
            debug_annotation_names: (1..).zip(ARGUMENTS).map(named).collect(),
        };
        self.packet(TracePacket {
            interned_data: Some(names),
            sequence_flags: Some(CLEARED),
            ..TracePacket::default()
        })
    }

    fn strands(&mut self) -> io::Result<()> {
        let dag = self.tracks.dag;
        let shown = |thread: u32| self.tracks.threads.binary_search(&thread).is_ok();
        let shown: Vec<bool> = (0..dag.meta.threads).map(shown).collect();
        for s in 0..dag.strands.len() as StrandId {
            if shown[dag.strands.thread[s as usize] as usize] {
                self.strand(s)?;
            }
        }
        Ok(())
    }

    fn strand(&mut self, s: StrandId) -> io::Result<()> {
        let (tracks, i) = (self.tracks, s as usize);
        let strands = &tracks.dag.strands;
        let track_uuid = THREADS + u64::from(strands.thread[i]);
        let task = strands.task[i] as usize;
        let flow = |s: &StrandId| u64::from(*s) + 1;
        let values = [
            tracks.dag.tasks.number(task as u32),
            u64::from(s),
            u64::from(tracks.dag.tasks.level[task]),
        ];
        let arguments = (1..).zip(values).map(|(name_iid, value)| DebugAnnotation {
            name_iid,
            uint_value: Some(value),
        });
        let from_here = tracks.stolen_from.get(&s);
        let is_stolen = tracks.stolen.binary_search(&s).is_ok();
        self.event(
            strands.start[i],
            TrackEvent {
                category_iids: vec![u64::from(tracks.site(s)) + 1],
                debug_annotations: arguments.collect(),
                r#type: TraceEventKind::Begin as i32,
                name_iid: Some(u64::from(tracks.codes.of(s)) + 1),
                track_uuid,
                flow_ids: from_here.map_or_else(Vec::new, |to| to.iter().map(flow).collect()),
                terminating_flow_ids: is_stolen.then(|| flow(&s)).into_iter().collect(),
                ..TrackEvent::default()
            },
        )?;
        self.slice_end(strands.end[i], track_uuid)
    }

    fn slice_end(&mut self, t: u64, track_uuid: u64) -> io::Result<()> {
        self.event(
            t,
            TrackEvent {
                r#type: TraceEventKind::End as i32,
                track_uuid,
                ..TrackEvent::default()
            },
        )
    }

    fn regions(&mut self) -> io::Result<()> {
        let tracks = self.tracks;
        let codes = tracks.codes.all.len() as u64;
        for (lane, regions) in (0..).zip(&tracks.regions) {
            for region in regions {
                self.event(
                    region.begin.1,
                    TrackEvent {
                        r#type: TraceEventKind::Begin as i32,
                        name_iid: Some(codes + u64::from(region.label) + 1),
                        track_uuid: REGIONS + lane,
                        ..TrackEvent::default()
                    },
                )?;
                self.slice_end(region.end.1, REGIONS + lane)?;
            }
        }
        Ok(())
    }

    fn counters(&mut self) -> io::Result<()> {
        let (mut last_running, mut last_ready) = (None, None);
        for &(t, running, ready) in &self.tracks.parallelism {
            let counters = [
                (RUNNING, running, &mut last_running),
                (READY, ready, &mut last_ready),
            ];
            for (track_uuid, value, last) in counters {
                if *last == Some(value) {
                    continue;
                }
                *last = Some(value);
                self.event(
                    t,
                    TrackEvent {
                        r#type: TraceEventKind::Counter as i32,
                        track_uuid,
                        counter_value: Some(value as i64),
                        ..TrackEvent::default()
                    },
                )?;
            }
        }
        Ok(())
    }
}
