//! No arena: all blocks are the system allocator's.

pub(super) struct Arena;

pub(super) struct Block {
    pub at: *mut u8,
    pub is_zero: bool,
}

pub(super) static ARENA: Arena = Arena;

impl Arena {
    pub(super) fn alloc(&self, _: usize) -> Option<Block> {
        None
    }
    pub(super) fn give_back(&self) {}
    pub(super) fn holds(&self, _: *mut u8) -> bool {
        false
    }
    pub(super) fn free(&self, _: *mut u8, _: usize) {}
    pub(super) fn resize(&self, _: *mut u8, _: usize, _: usize) -> bool {
        false
    }
}
