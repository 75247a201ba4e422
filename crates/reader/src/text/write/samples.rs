//! Samples of the code.

use super::Writer;
use workspan_dag::{NONE, WaitCause};
use workspan_trace::entry::WaitKind;

impl Writer<'_> {
    /// Writes frames, then stacks, then samples by time.
    pub(super) fn sample_lines(&mut self) {
        let samples = &self.dag.samples;
        for (i, frame) in samples.frames.iter().enumerate() {
            self.put(&format!("{{\"ev\":\"frame\",\"frame\":{i}"));
            self.string("function", &frame.function);
            if let Some(file) = &frame.file {
                self.string("file", file);
            }
            if let Some(line) = frame.line {
                self.number("line", line);
            }
            if frame.runtime {
                self.put(",\"runtime\":true");
            }
            self.close();
        }
        for i in 0..samples.stacks.len() {
            let frames: Vec<String> = samples.stacks.get(i).iter().map(u32::to_string).collect();
            let frames = frames.join(",");
            self.put(&format!(
                "{{\"ev\":\"stack\",\"stack\":{i},\"frames\":[{frames}]}}\n"
            ));
        }
        for ((t, w), stack) in samples.t.iter().zip(&samples.thread).zip(&samples.stack) {
            self.put(&format!(
                "{{\"ev\":\"sample\",\"t\":{t},\"w\":{w},\"stack\":{stack}}}\n"
            ));
        }
        for (t, stack) in &samples.others {
            self.put(&format!(
                "{{\"ev\":\"sample\",\"t\":{t},\"stack\":{stack}}}\n"
            ));
        }
        for stop in &samples.stops {
            let (t, w, stack, ticks) = (stop.t, stop.thread, stop.stack, stop.ticks);
            self.put(&format!(
                "{{\"ev\":\"stop\",\"t\":{t},\"w\":{w},\"stack\":{stack},\"ticks\":{ticks}"
            ));
            if let Some(wait) = &stop.wait {
                self.waited(wait);
            }
            self.close();
        }
    }

    /// Writes the reason of a stop.
    fn waited(&mut self, wait: &WaitCause) {
        self.put(&format!(
            ",\"on\":\"{}\"",
            WaitKind::NAMES[wait.kind as usize]
        ));
        let numbers = [
            ("object", (wait.object != 0).then_some(wait.object)),
            ("by", (wait.by != NONE).then_some(u64::from(wait.by))),
            (
                "released",
                (wait.released_at != NONE).then_some(u64::from(wait.released_at)),
            ),
            ("held", Some(wait.held)),
        ];
        for (key, number) in numbers {
            if let Some(number) = number {
                self.put(&format!(",\"{key}\":{number}"));
            }
        }
    }

    /// Writes pools, then the pool of each worker thread.
    pub(super) fn pool_lines(&mut self) {
        let pools = &self.dag.pools;
        for (i, pool) in pools.list.iter().enumerate() {
            let (t, to, size) = (pool.from, pool.to, pool.size);
            self.put(&format!(
                "{{\"ev\":\"pool\",\"pool\":{i},\"t\":{t},\"to\":{to},\"size\":{size}"
            ));
            if let Some(built) = &pool.built {
                self.string("at", built);
            }
            self.close();
        }
        for member in &pools.members {
            let (t, to, w, pool) = (member.from, member.to, member.thread, member.pool);
            self.put(&format!(
                "{{\"ev\":\"worker\",\"t\":{t},\"to\":{to},\"w\":{w},\"pool\":{pool}}}\n"
            ));
        }
    }
}
