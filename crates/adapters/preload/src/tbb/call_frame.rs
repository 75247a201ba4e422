//! Finds a function's caller from call frame information, which the compiler writes (DWARF 5 §6.4,
//! in the form of `.eh_frame`). That is exact for frames of any size on any stack. Nothing is read
//! except where the function itself saved its return address and its caller's frame pointer.
//!
//! Three forms of a frame's end are understood, which are those that compilers write: a distance
//! from the stack pointer; a distance from the frame pointer (frames with `alloca` or arrays of
//! variable length); a value saved at a distance from the frame pointer (frames that GCC aligns).
//! At anything else the walk ends.

use core::ffi::c_void;

/// DWARF's numbers of x86-64 registers: rbp, rsp, the return address.
const BP: u64 = 6;
const SP: u64 = 7;
const RA: u64 = 16;

/// Where a frame ends: the caller's stack pointer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum End {
    /// Unknown, or there is no caller.
    None,
    /// At a distance from the stack pointer.
    Sp,
    /// At a distance from the frame pointer.
    Bp,
    /// Saved at a distance from the frame pointer.
    AtBp,
}

/// Where the caller's frame pointer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Saved {
    /// In the register, unchanged.
    Same,
    /// Saved at a distance from the frame's end.
    AtEnd,
    /// Saved at a distance from the frame pointer.
    AtBp,
    Lost,
}

/// How to get from a frame to its caller's, for one return address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rule {
    end_at: i32,
    saved_at: i16,
    end: End,
    saved: Saved,
}

/// Registers of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Registers {
    /// Where the frame goes on.
    pub(super) ret: usize,
    pub(super) sp: usize,
    /// 0 if it is unknown.
    pub(super) bp: usize,
}

impl Rule {
    /// The walk ends here.
    pub(super) const NONE: Rule = Rule {
        end_at: 0,
        saved_at: 0,
        end: End::None,
        saved: Saved::Same,
    };

    /// The caller's registers.
    ///
    /// # Safety
    /// `of` are the registers of a live frame, and this is the rule for its return address.
    #[inline(always)]
    pub(super) unsafe fn caller(&self, of: Registers) -> Option<Registers> {
        let at = |from: usize, by: isize| from.wrapping_add_signed(by);
        // SAFETY: a live frame has its return address and its caller's registers where the rule
        // says.
        let load = |place: usize| unsafe { *(place as *const usize) };
        let by = self.end_at as isize;
        let end = match self.end {
            End::Sp => at(of.sp, by),
            End::None => return None,
            _ if of.bp == 0 => return None,
            End::Bp => at(of.bp, by),
            End::AtBp => load(at(of.bp, by)),
        };
        if end <= of.sp || !end.is_multiple_of(size_of::<usize>()) {
            return None;
        }
        let by = isize::from(self.saved_at);
        let bp = match self.saved {
            Saved::Same => of.bp,
            Saved::AtEnd => load(at(end, by)),
            Saved::AtBp if of.bp != 0 => load(at(of.bp, by)),
            _ => 0,
        };
        Some(Registers {
            ret: load(end - size_of::<usize>()),
            sp: end,
            bp,
        })
    }
}

/// `struct dwarf_eh_bases` of libgcc.
#[repr(C)]
struct Bases {
    text: usize,
    data: usize,
    function: usize,
}

unsafe extern "C" {
    fn _Unwind_Find_FDE(pc: *const c_void, bases: *mut Bases) -> *const u8;
}

/// The rule for a frame that goes on at this address.
#[cold]
pub(super) fn rule_at(ret: usize) -> Rule {
    let mut bases = Bases {
        text: 0,
        data: 0,
        function: 0,
    };
    // The call may be the function's last instruction.
    let pc = ret.wrapping_sub(1);
    // SAFETY: the function takes any address.
    let entry = unsafe { _Unwind_Find_FDE(pc as *const c_void, &mut bases) };
    if entry.is_null() || bases.function > pc {
        return Rule::NONE;
    }
    // SAFETY: an entry that the unwinder returns is part of a loaded file, as is the entry it
    // refers to.
    let parts = unsafe {
        entry_at(entry).and_then(|own| {
            let back = i32::from_le_bytes(own.get(..4)?.try_into().ok()?);
            let common = entry_at(own.as_ptr().wrapping_offset(-(back as isize)))?;
            Some((common, own))
        })
    };
    parts
        .and_then(|(common, own)| evaluate(common.get(4..)?, own.get(4..)?, pc - bases.function))
        .unwrap_or(Rule::NONE)
}

/// The contents of an entry, after its length.
///
/// # Safety
/// `at` is the start of an entry of `.eh_frame`, and its file stays loaded during the call.
unsafe fn entry_at<'a>(at: *const u8) -> Option<&'a [u8]> {
    // SAFETY: an entry has as many bytes as its length says.
    unsafe {
        let length = at.cast::<u32>().read_unaligned();
        // Zero ends the section; all ones announce a longer length, which nobody writes.
        (length >= 4 && length != u32::MAX)
            .then(|| core::slice::from_raw_parts(at.add(4), length as usize))
    }
}

/// A cursor over bytes.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        Some(self.take(1)?[0])
    }

    fn fixed(&mut self, count: usize) -> Option<u64> {
        let bytes = self.take(count)?.iter().rev();
        Some(bytes.fold(0, |value, &byte| value << 8 | u64::from(byte)))
    }

    fn unsigned(&mut self) -> Option<u64> {
        let (mut value, mut shift) = (0, 0);
        loop {
            let byte = self.byte()?;
            if shift < 64 {
                value |= u64::from(byte & 0x7f) << shift;
            }
            shift += 7;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
    }

    fn signed(&mut self) -> Option<i64> {
        let (mut value, mut shift) = (0, 0);
        loop {
            let byte = self.byte()?;
            if shift < 64 {
                value |= i64::from(byte & 0x7f) << shift;
            }
            shift += 7;
            if byte & 0x80 == 0 {
                let sign = byte & 0x40 != 0 && shift < 64;
                return Some(if sign { value | -1 << shift } else { value });
            }
        }
    }

    /// A block: its length in bytes, then its bytes.
    fn block(&mut self) -> Option<Bytes<'a>> {
        let length = usize::try_from(self.unsigned()?).ok()?;
        self.take(length).map(Bytes)
    }
}

/// Size of a pointer in this encoding; `None` if the size varies.
fn pointer_size(encoding: u8) -> Option<usize> {
    match encoding & 0x7f {
        0x50 => None,
        other => match other & 0x0f {
            0x00 | 0x04 | 0x0c => Some(8),
            0x02 | 0x0a => Some(2),
            0x03 | 0x0b => Some(4),
            _ => None,
        },
    }
}

/// The rule at `offset` bytes into the function. `common` and `own` are the common entry and the
/// function's own, each from behind its second word.
fn evaluate(common: &[u8], own: &[u8], offset: usize) -> Option<Rule> {
    let mut common = Bytes(common);
    let version = common.byte()?;
    let zero = common.0.iter().position(|&byte| byte == 0)?;
    let augmentation = common.take(zero)?;
    common.byte()?;
    if version >= 4 {
        common.take(2)?;
    }
    let code = common.unsigned()?;
    let data = common.signed()?;
    let returns = match version {
        1 => u64::from(common.byte()?),
        _ => common.unsigned()?,
    };
    let mut encoding = 0;
    let sized = augmentation.first() == Some(&b'z');
    if sized {
        let mut about = common.block()?;
        for kind in &augmentation[1..] {
            match kind {
                b'R' => encoding = about.byte()?,
                b'L' => drop(about.byte()?),
                b'P' => {
                    let size = pointer_size(about.byte()?)?;
                    about.take(size)?;
                }
                // Among others, the frame of a signal.
                _ => return None,
            }
        }
    } else if !augmentation.is_empty() {
        return None;
    }
    if returns != RA {
        return None;
    }
    let mut own = Bytes(own);
    own.take(2 * pointer_size(encoding)?)?;
    if sized {
        own.block()?;
    }
    let mut rows = Rows {
        row: Row {
            rule: Rule::NONE,
            caller: true,
        },
        first: None,
        kept: [None; 8],
        depth: 0,
        code,
        data,
        at: 0,
        offset: offset as u64,
    };
    rows.run(common)?;
    rows.first = Some(rows.row);
    rows.at = 0;
    rows.run(own)?;
    rows.row.caller.then_some(rows.row.rule)
}

#[derive(Clone, Copy)]
struct Row {
    rule: Rule,
    /// Whether the return address is right below the frame's end.
    caller: bool,
}

/// The state of the evaluation.
struct Rows {
    row: Row,
    /// The row at the function's start.
    first: Option<Row>,
    kept: [Option<Row>; 8],
    depth: usize,
    code: u64,
    data: i64,
    /// The offset in the function that `row` is for, and the offset that is looked for.
    at: u64,
    offset: u64,
}

impl Rows {
    fn advance(&mut self, by: u64) -> bool {
        self.at = self.at.saturating_add(by.saturating_mul(self.code));
        self.at <= self.offset
    }

    fn end(&mut self, register: u64, at: i64) -> Option<()> {
        self.row.rule.end = match register {
            SP => End::Sp,
            BP => End::Bp,
            _ => End::None,
        };
        self.row.rule.end_at = i32::try_from(at).ok()?;
        Some(())
    }

    /// A register is saved at a distance from the frame's end.
    fn saved(&mut self, register: u64, at: i64) {
        match register {
            BP => self.frame_pointer(Saved::AtEnd, at),
            RA => self.row.caller = at == -8,
            _ => {}
        }
    }

    fn frame_pointer(&mut self, saved: Saved, at: i64) {
        let rule = &mut self.row.rule;
        (rule.saved, rule.saved_at) = match i16::try_from(at) {
            Ok(at) => (saved, at),
            Err(_) => (Saved::Lost, 0),
        };
    }

    /// A register is somewhere else.
    fn elsewhere(&mut self, register: u64) {
        match register {
            BP => self.frame_pointer(Saved::Lost, 0),
            RA => self.row.caller = false,
            _ => {}
        }
    }

    fn restore(&mut self, register: u64) -> Option<()> {
        let first = self.first?;
        match register {
            BP => {
                self.row.rule.saved = first.rule.saved;
                self.row.rule.saved_at = first.rule.saved_at;
            }
            RA => self.row.caller = first.caller,
            _ => {}
        }
        Some(())
    }

    /// Runs instructions up to the offset that is looked for.
    fn run(&mut self, mut code: Bytes<'_>) -> Option<()> {
        while let Some(instruction) = code.byte() {
            let low = instruction & 0x3f;
            let goes_on = match instruction >> 6 {
                1 => self.advance(u64::from(low)),
                2 => {
                    let at = code.unsigned()? as i64;
                    self.saved(u64::from(low), at.wrapping_mul(self.data));
                    true
                }
                3 => {
                    self.restore(u64::from(low))?;
                    true
                }
                _ => self.extended(low, &mut code)?,
            };
            if !goes_on {
                break;
            }
        }
        Some(())
    }

    /// Runs an instruction whose operands all follow it.
    fn extended(&mut self, instruction: u8, code: &mut Bytes<'_>) -> Option<bool> {
        let data = self.data;
        match instruction {
            0x00 => {}
            0x02 => {
                let by = code.fixed(1)?;
                return Some(self.advance(by));
            }
            0x03 => {
                let by = code.fixed(2)?;
                return Some(self.advance(by));
            }
            0x04 => {
                let by = code.fixed(4)?;
                return Some(self.advance(by));
            }
            0x05 => {
                let (register, at) = (code.unsigned()?, code.unsigned()? as i64);
                self.saved(register, at.wrapping_mul(data));
            }
            0x06 => self.restore(code.unsigned()?)?,
            0x07 => self.elsewhere(code.unsigned()?),
            0x08 => {
                if code.unsigned()? == BP {
                    self.frame_pointer(Saved::Same, 0);
                }
            }
            0x09 => {
                self.elsewhere(code.unsigned()?);
                code.unsigned()?;
            }
            0x0a => {
                *self.kept.get_mut(self.depth)? = Some(self.row);
                self.depth += 1;
            }
            0x0b => {
                self.depth = self.depth.checked_sub(1)?;
                self.row = self.kept[self.depth]?;
            }
            0x0c => {
                let (register, at) = (code.unsigned()?, code.unsigned()? as i64);
                self.end(register, at)?;
            }
            0x0d => {
                let register = code.unsigned()?;
                self.end(register, i64::from(self.row.rule.end_at))?;
            }
            0x0e => self.row.rule.end_at = i32::try_from(code.unsigned()?).ok()?,
            0x0f => self.computed_end(code.block()?)?,
            0x10 => {
                let register = code.unsigned()?;
                self.computed(register, code.block()?);
            }
            0x11 => {
                let (register, at) = (code.unsigned()?, code.signed()?);
                self.saved(register, at.wrapping_mul(data));
            }
            0x12 => {
                let (register, at) = (code.unsigned()?, code.signed()?);
                self.end(register, at.wrapping_mul(data))?;
            }
            0x13 => {
                let at = code.signed()?.wrapping_mul(data);
                self.row.rule.end_at = i32::try_from(at).ok()?;
            }
            0x14 => {
                self.elsewhere(code.unsigned()?);
                code.unsigned()?;
            }
            0x15 => {
                self.elsewhere(code.unsigned()?);
                code.signed()?;
            }
            0x16 => {
                self.elsewhere(code.unsigned()?);
                code.block()?;
            }
            // The size of a call's stack arguments, in bytes.
            0x2e => drop(code.unsigned()?),
            _ => return None,
        }
        Some(true)
    }

    /// The frame's end is an expression. Only the value at a distance from the frame pointer is
    /// understood.
    fn computed_end(&mut self, mut block: Bytes<'_>) -> Option<()> {
        const BREG_BP: u8 = 0x70 + BP as u8;
        const DEREF: u8 = 0x06;
        let rule = &mut self.row.rule;
        rule.end = End::None;
        if block.byte() == Some(BREG_BP)
            && let Some(at) = block.signed()
            && block.0 == [DEREF]
        {
            (rule.end, rule.end_at) = (End::AtBp, i32::try_from(at).ok()?);
        }
        Some(())
    }

    /// A register is saved where an expression says.
    fn computed(&mut self, register: u64, mut block: Bytes<'_>) {
        const BREG_BP: u8 = 0x70 + BP as u8;
        self.elsewhere(register);
        if register == BP
            && block.byte() == Some(BREG_BP)
            && let Some(at) = block.signed()
            && block.0.is_empty()
        {
            self.frame_pointer(Saved::AtBp, at);
        }
    }
}

#[cfg(all(test, target_arch = "x86_64", not(miri)))]
mod tests {
    use super::{Registers, rule_at};
    use core::ffi::{c_int, c_void};

    unsafe extern "C" {
        fn _Unwind_Backtrace(
            each: unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int,
            with: *mut c_void,
        ) -> c_int;
        fn _Unwind_GetIP(frame: *mut c_void) -> usize;
        fn _Unwind_GetCFA(frame: *mut c_void) -> usize;
        fn _Unwind_GetGR(frame: *mut c_void, register: c_int) -> usize;
    }

    unsafe extern "C" fn one(frame: *mut c_void, with: *mut c_void) -> c_int {
        // SAFETY: the unwinder's frame, and the list that was passed below.
        unsafe {
            (*with.cast::<Vec<Registers>>()).push(Registers {
                ret: _Unwind_GetIP(frame),
                sp: _Unwind_GetCFA(frame),
                bp: _Unwind_GetGR(frame, 6),
            });
        }
        0
    }

    #[test]
    fn each_frame_leads_to_the_one_the_unwinder_finds() {
        fn deep(n: u32) -> Vec<Registers> {
            if n > 0 {
                return std::hint::black_box(deep(n - 1));
            }
            let mut frames = Vec::<Registers>::new();
            // SAFETY: the callback gets the list, and nothing else uses it meanwhile.
            unsafe { _Unwind_Backtrace(one, (&raw mut frames).cast()) };
            for (at, pair) in frames.windows(2).enumerate() {
                // SAFETY: all these frames are live.
                let caller = unsafe { rule_at(pair[0].ret).caller(pair[0]) };
                // The outermost frames have no known caller, or one at 0.
                if at + 3 < frames.len() {
                    assert_eq!(caller, Some(pair[1]), "frame {at} of {}", frames.len());
                }
            }
            frames
        }
        let frames = std::thread::spawn(|| deep(5)).join().expect("a thread");
        assert!(frames.len() > 8, "{}", frames.len());
    }

    #[test]
    fn where_there_is_no_function_there_is_no_caller() {
        assert_eq!(rule_at(16), super::Rule::NONE);
        assert_eq!(rule_at(0), super::Rule::NONE);
    }
}
