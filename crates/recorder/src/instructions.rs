//! Instructions counted by an emulator, on machines whose CPU has no usable counters.
//!
//! `workspan record --count instructions` runs the program under valgrind with a tool of its own
//! (`record/src/instructions/tool.c`), which counts the instructions of each thread, except those
//! of this library. The program asks for its thread's number by a client request: a sequence of
//! instructions without effect, which valgrind interprets as a call of the tool.

/// The [`crate::CounterEvent::kind`] of events that are counted this way.
pub const EMULATED: u32 = u32::MAX;

/// The code of `tool.c`'s request.
#[cfg(target_arch = "x86_64")]
const INSTRUCTIONS_SO_FAR: u64 = 0x5753_0001;

/// The number of instructions that the calling thread has run, plus one; 0 outside of the emulator.
#[cfg(target_arch = "x86_64")]
pub(crate) fn so_far() -> u64 {
    let request = [INSTRUCTIONS_SO_FAR, 0, 0, 0, 0, 0];
    let mut answer: u64 = 0;
    // SAFETY: the rotations add up to whole turns and the exchange is with itself, so that only the
    // answer's register changes; the request is read while it lives.
    unsafe {
        core::arch::asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            in("rax") request.as_ptr(),
            inout("rdx") answer,
            options(nostack)
        );
    }
    answer
}

/// Without the emulator there is no count.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn so_far() -> u64 {
    0
}

/// The instruction count of one thread.
pub(crate) struct Emulated {
    /// The count's label in the trace.
    label: u32,
    /// The count when the recorder last returned to the program.
    last: u64,
    /// The count when the recorder was last entered.
    entered: u64,
}

impl Emulated {
    /// For the calling thread; `None` outside of the emulator.
    pub(crate) fn new(label: u32) -> Option<Self> {
        let last = so_far();
        (last > 0).then_some(Emulated {
            label,
            last,
            entered: last,
        })
    }

    /// The recorder begins to write. Instructions of other libraries that it calls do not count for
    /// the program.
    pub(crate) fn enter(&mut self) {
        self.entered = so_far();
    }

    /// The recorder has written.
    pub(crate) fn leave(&mut self) {
        self.last = so_far();
    }

    /// The label, and the program's instructions since the last reading.
    pub(crate) fn increase(&mut self) -> (u32, u64) {
        let increase = self.entered.saturating_sub(self.last);
        self.last = self.entered;
        (self.label, increase)
    }
}
