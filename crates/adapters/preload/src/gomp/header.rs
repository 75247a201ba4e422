//! The header in front of an explicit task's argument block, and how blocks with headers come to be.
//!
//! libgomp copies the block that the compiler built to where the task will find it: by `memcpy`, or by the function that
//! the compiler gives where a copy has to be constructed (`firstprivate` of C++ classes). Such a function we replace by
//! [`copy`], which copies the header and calls it for what follows. Where there is none we build the block with its header
//! ourselves and leave the copying to libgomp: whether there is a copy function changes how libgomp cancels tasks
//! and how much stack a `taskloop` takes.
//!
//! A task that runs at once (`if(0)`, `final`) gets its argument where the compiler built it: a header alone points there.

use std::alloc::Layout;

/// What lies in front of the program's argument block. A `taskloop`'s has more behind it.
#[repr(C, align(8))]
pub(super) struct Header {
    /// libgomp's: it writes a task's event to the first, a chunk's bounds to the first two, and reads the reductions of a
    /// `taskloop` from the third. They stand for those of the program's block.
    pub(super) words: [usize; 3],
    /// The outlined function.
    pub(super) function: usize,
    /// The task's number; of a chunk of a `taskloop` the first one's; of a task that runs at once, where the creator's
    /// [`super::task::UndeferredState`] is; of one created in an unrecorded subtree, the subtree's name.
    pub(super) task: u64,
    /// The program's block, where the task uses it in place; null: it follows.
    pub(super) data: *mut u8,
    /// What the copy function copies from, when it is called: the program's block.
    pub(super) from: *mut u8,
    /// The program's copy function; 0 for none.
    pub(super) copy: usize,
    /// From here to the program's block.
    pub(super) offset: u32,
    pub(super) flags: u32,
    /// Creates below the implicit task.
    pub(super) level: u32,
    /// Where it was created; 0 where that is not known yet.
    pub(super) site: u32,
}

/// [`Header::flags`]: what the task creates runs at once.
pub(super) const FINAL: u32 = 1;
/// The task has an event.
pub(super) const DETACH: u32 = 2;
/// The event is the first word of the program's block.
pub(super) const EVENT_WORD: u32 = 4;
/// There is a team.
pub(super) const IN_TEAM: u32 = 8;
/// The task runs at once.
pub(super) const UNDEFERRED: u32 = 16;
/// Its creator waits for the dependences first.
pub(super) const WAITED: u32 = 32;
/// It was created in an unrecorded subtree.
pub(super) const UNRECORDED: u32 = 64;

/// The program's block of a task.
///
/// # Safety
/// `header` is one that libgomp handed to a task.
#[inline]
pub(super) unsafe fn data(header: *mut Header) -> *mut u8 {
    // SAFETY: the caller's.
    unsafe {
        if (*header).data.is_null() {
            header.cast::<u8>().add((*header).offset as usize)
        } else {
            (*header).data
        }
    }
}

/// How large a block with its header is, and how it must lie.
#[derive(Clone, Copy)]
pub(super) struct BlockLayout {
    /// From the header to the program's block.
    pub(super) offset: usize,
    pub(super) size: usize,
    pub(super) align: usize,
}

impl BlockLayout {
    /// That of a header of `header` bytes before a block of the size and alignment that the compiler asked for.
    #[inline]
    pub(super) fn new(header: usize, size: usize, align: usize) -> BlockLayout {
        let align = align.max(8);
        let offset = header.wrapping_add(align - 1) & !(align - 1);
        BlockLayout {
            offset,
            size: offset.wrapping_add(size),
            align,
        }
    }
}

/// Blocks up to this size are built on the stack.
const SMALL: usize = 448;
const SMALL_ALIGN: usize = 64;

#[repr(C, align(64))]
struct Small([core::mem::MaybeUninit<u8>; SMALL]);

/// Builds a block out of a header (with what belongs to it) and the program's block, for as long as `give` takes, which
/// hands it to libgomp.
///
/// # Safety
/// `shape.offset` is at least the header's size, and `from` has `shape.size - shape.offset` bytes.
#[inline]
pub(super) unsafe fn build<T>(
    header: T,
    from: *const u8,
    layout: BlockLayout,
    give: impl FnOnce(*mut u8),
) {
    if layout.size <= SMALL && layout.align <= SMALL_ALIGN {
        let mut small = Small([const { core::mem::MaybeUninit::uninit() }; SMALL]);
        // SAFETY: it is large enough.
        unsafe {
            let block = (&raw mut small).cast::<u8>();
            fill(block, header, from, layout);
            give(block);
        }
    } else {
        // SAFETY: the caller's.
        unsafe { build_large(header, from, layout, give) }
    }
}

#[cold]
unsafe fn build_large<T>(
    header: T,
    from: *const u8,
    layout: BlockLayout,
    give: impl FnOnce(*mut u8),
) {
    let Ok(whole) = Layout::from_size_align(layout.size, layout.align) else {
        return;
    };
    // SAFETY: the size is not 0; the block is large enough, and given up after its last use.
    unsafe {
        let block = std::alloc::alloc(whole);
        if block.is_null() {
            std::alloc::handle_alloc_error(whole);
        }
        fill(block, header, from, layout);
        give(block);
        std::alloc::dealloc(block, whole);
    }
}

/// # Safety
/// `block` has room for the shape, and is aligned as it says; the rest as [`build`].
#[inline]
pub(super) unsafe fn fill<T>(block: *mut u8, header: T, from: *const u8, layout: BlockLayout) {
    // SAFETY: the caller's sizes; the block is aligned to at least 8.
    unsafe {
        block.cast::<T>().write(header);
        if layout.size > layout.offset {
            let to = block.add(layout.offset);
            core::ptr::copy_nonoverlapping(from, to, layout.size - layout.offset);
        }
    }
}

/// The copy function libgomp gets for a header of `SIZE` bytes in the place of the program's.
pub(super) unsafe extern "C-unwind" fn copy<const SIZE: usize>(to: *mut u8, header: *mut u8) {
    type Copy = unsafe extern "C-unwind" fn(*mut u8, *mut u8);
    // SAFETY: libgomp made room for the block that it was told of, and hands over the header that it was given.
    unsafe {
        core::ptr::copy_nonoverlapping(header, to, SIZE);
        let header = header.cast::<Header>();
        let program: Copy = core::mem::transmute((*header).copy);
        program(to.add((*header).offset as usize), (*header).from);
    }
}
