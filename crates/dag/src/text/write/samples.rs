//! Samples of the code.

use super::Writer;

impl Writer<'_> {
    /// Frames, then stacks, then samples by time.
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
    }
}
