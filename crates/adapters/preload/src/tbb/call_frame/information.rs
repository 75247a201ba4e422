//! Evaluates call frame information: the instructions of an entry of `.eh_frame` up to one offset
//! in the function (DWARF 5 §6.4).

use super::{End, Rule, SavedFramePointer};

/// DWARF's numbers of x86-64 registers: rbp, rsp, the return address.
const BP: u64 = 6;
const SP: u64 = 7;
const RA: u64 = 16;

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
pub(super) fn evaluate(common: &[u8], own: &[u8], offset: usize) -> Option<Rule> {
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
                // For example the frame of a signal.
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
        saved_rows: [None; 8],
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
    saved_rows: [Option<Row>; 8],
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
            BP => self.frame_pointer(SavedFramePointer::AtEnd, at),
            RA => self.row.caller = at == -8,
            _ => {}
        }
    }

    fn frame_pointer(&mut self, saved: SavedFramePointer, at: i64) {
        let rule = &mut self.row.rule;
        (rule.saved, rule.saved_at) = match i16::try_from(at) {
            Ok(at) => (saved, at),
            Err(_) => (SavedFramePointer::Lost, 0),
        };
    }

    /// A register is saved elsewhere.
    fn elsewhere(&mut self, register: u64) {
        match register {
            BP => self.frame_pointer(SavedFramePointer::Lost, 0),
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
                    self.frame_pointer(SavedFramePointer::Same, 0);
                }
            }
            0x09 => {
                self.elsewhere(code.unsigned()?);
                code.unsigned()?;
            }
            0x0a => {
                *self.saved_rows.get_mut(self.depth)? = Some(self.row);
                self.depth += 1;
            }
            0x0b => {
                self.depth = self.depth.checked_sub(1)?;
                self.row = self.saved_rows[self.depth]?;
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
            self.frame_pointer(SavedFramePointer::AtBp, at);
        }
    }
}
