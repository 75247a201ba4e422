//! The header in front of an explicit task's argument block, and how blocks with headers are built.
//!
//! libgomp copies the block that the compiler built to where the task will find it. It uses
//! `memcpy`, or a function that the compiler provides if a copy has to be constructed
//! (`firstprivate` of C++ classes). [`copy`] replaces such a function: it copies the header and
//! calls the program's function for the rest. If the program provides none, we build the block with
//! its header and leave the copying to libgomp. A copy function of our own would change how libgomp
//! cancels tasks and how much stack a `taskloop` takes.
//!
//! A task that runs at once (`if(0)`, `final`) gets its argument where the compiler built it. Its
//! header points there.

use std::alloc::Layout;

/// The data in front of the program's argument block. The header of a `taskloop` is longer.
#[repr(C, align(8))]
pub(super) struct Header {
    /// Words that libgomp uses, in place of the first words of the program's block: it writes a
    /// task's event to the first and a chunk's bounds to the first two, and reads the reductions of
    /// a `taskloop` from the third.
    pub(super) words: [usize; 3],
    /// The outlined function.
    pub(super) function: usize,
    /// The task's number. For a chunk of a `taskloop`: the number of the loop's first task. For a
    /// task that runs at once: the address of its [`super::undeferred::UndeferredState`]. For a
    /// task that was created in a skipped subtree: the subtree's name.
    pub(super) task: u64,
    /// The program's block, if the task uses it in place; null if it follows the header.
    pub(super) data: *mut u8,
    /// The program's block, from which the copy function copies.
    pub(super) from: *mut u8,
    /// The program's copy function; 0 if there is none.
    pub(super) copy: usize,
    /// Distance from the header to the program's block, in bytes.
    pub(super) offset: u32,
    pub(super) flags: u32,
    /// The number of tasks between the implicit task and this one.
    pub(super) level: u32,
    /// The site of its creation; 0 if not known yet.
    pub(super) site: u32,
}

/// The header of most recorded tasks: those of a team that have no copy function, no event and no
/// dependences. It is smaller than a [`Header`], because every byte is copied twice and then read
/// by another thread.
#[repr(C)]
pub(super) struct PlainHeader {
    /// The outlined function.
    pub(super) function: usize,
    /// The task's number.
    pub(super) task: u64,
    pub(super) rest: LevelAndFlags,
    /// The site of its creation.
    pub(super) site: u64,
}

/// The level, and above it 16 bits for the distance from a compact header to the program's block,
/// and 16 for [`Header::flags`].
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(super) struct LevelAndFlags(u64);

impl LevelAndFlags {
    #[inline]
    pub(super) fn new(level: u32, offset: usize, flags: u32) -> LevelAndFlags {
        LevelAndFlags(u64::from(level) | (offset as u64) << 32 | u64::from(flags) << 48)
    }

    #[inline]
    pub(super) fn word(self) -> u64 {
        self.0
    }

    #[inline]
    pub(super) fn level(self) -> u32 {
        self.0 as u32
    }

    #[inline]
    pub(super) fn offset(self) -> usize {
        usize::from((self.0 >> 32) as u16)
    }

    #[inline]
    pub(super) fn flags(self) -> u32 {
        (self.0 >> 48) as u32
    }
}

/// The largest alignment whose offset fits in a [`LevelAndFlags`].
pub(super) const MAX_COMPACT_ALIGN: usize = 1 << 12;

/// [`Header::flags`]: tasks that this one creates run at once.
pub(super) const FINAL: u32 = 1;
/// The task has an event.
pub(super) const DETACH: u32 = 2;
/// The event is the first word of the program's block.
pub(super) const EVENT_WORD: u32 = 4;
/// The task belongs to a team.
pub(super) const IN_TEAM: u32 = 8;
/// The task runs at once.
pub(super) const UNDEFERRED: u32 = 16;
/// Its creator waits for its dependences first.
pub(super) const WAITED: u32 = 32;
/// The task was created in a skipped subtree.
pub(super) const UNRECORDED: u32 = 64;

/// The program's block of a task.
///
/// # Safety
/// libgomp passed `header` to a task.
#[inline]
pub(super) unsafe fn data(header: *mut Header) -> *mut u8 {
    // SAFETY: libgomp's copy of a header that `build` or `copy` made; the block follows at its
    // offset.
    unsafe {
        if (*header).data.is_null() {
            header.cast::<u8>().add((*header).offset as usize)
        } else {
            (*header).data
        }
    }
}

/// Size and alignment of a block with its header.
#[derive(Clone, Copy)]
pub(super) struct BlockLayout {
    /// Distance from the header to the program's block, in bytes.
    pub(super) offset: usize,
    pub(super) size: usize,
    pub(super) align: usize,
}

impl BlockLayout {
    /// The layout of a header of `header` bytes before a block with the size and alignment that the
    /// compiler requested.
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

/// What stands in front of the program's block.
pub(super) trait BlockHeader: Sized {
    /// # Safety
    /// `to` is valid for writes and aligned.
    #[inline(always)]
    unsafe fn write_to(self, to: *mut Self) {
        // SAFETY: the caller's guarantee.
        unsafe { to.write(self) }
    }
}

impl BlockHeader for Header {}

impl BlockHeader for PlainHeader {
    #[inline(always)]
    unsafe fn write_to(self, to: *mut PlainHeader) {
        let words = [self.function as u64, self.task, self.rest.word(), self.site];
        // SAFETY: the caller's guarantee; the header consists of these words.
        unsafe { write_words(to.cast(), words) }
    }
}

/// Stores word by word. A header is otherwise built elsewhere and then copied in larger pieces,
/// which have to wait until the words that were just stored are in the cache.
///
/// # Safety
/// `to` is valid for writes of that many words, and aligned.
#[inline(always)]
pub(super) unsafe fn write_words<const N: usize>(to: *mut u64, words: [u64; N]) {
    for (i, word) in words.into_iter().enumerate() {
        // SAFETY: the caller's guarantee.
        unsafe { to.add(i).write_volatile(word) };
    }
}

/// Blocks up to this size, in bytes, are built on the stack.
const MAX_STACK_BLOCK_BYTES: usize = 448;
const MAX_STACK_BLOCK_ALIGN: usize = 64;

#[repr(C, align(64))]
struct StackBlock([core::mem::MaybeUninit<u8>; MAX_STACK_BLOCK_BYTES]);

/// Builds a block from a header and the program's block, and passes it to `give`, which passes it
/// to libgomp. The block lives until `give` returns.
///
/// # Safety
/// `layout.offset` is at least the header's size, and `from` has `layout.size - layout.offset`
/// bytes.
#[inline]
pub(super) unsafe fn build<T: BlockHeader>(
    header: T,
    from: *const u8,
    layout: BlockLayout,
    give: impl FnOnce(*mut u8),
) {
    if layout.size <= MAX_STACK_BLOCK_BYTES && layout.align <= MAX_STACK_BLOCK_ALIGN {
        let mut small =
            StackBlock([const { core::mem::MaybeUninit::uninit() }; MAX_STACK_BLOCK_BYTES]);
        // SAFETY: the buffer is large enough for the layout; the sizes are the caller's.
        unsafe {
            let block = (&raw mut small).cast::<u8>();
            fill(block, header, from, layout);
            give(block);
        }
    } else {
        // SAFETY: the same contract.
        unsafe { build_large(header, from, layout, give) }
    }
}

#[cold]
unsafe fn build_large<T: BlockHeader>(
    header: T,
    from: *const u8,
    layout: BlockLayout,
    give: impl FnOnce(*mut u8),
) {
    let Ok(whole) = Layout::from_size_align(layout.size, layout.align) else {
        return;
    };
    // SAFETY: the size is not 0; the block has the layout's size, and is freed after its last use.
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

/// Writes a header and, behind it, the program's block.
///
/// # Safety
/// `block` has room for the layout and the alignment that it requires; the rest as for [`build`].
#[inline]
pub(super) unsafe fn fill<T: BlockHeader>(
    block: *mut u8,
    header: T,
    from: *const u8,
    layout: BlockLayout,
) {
    // SAFETY: the block has room for both parts, and is aligned to 8 at least.
    unsafe {
        header.write_to(block.cast());
        if layout.size > layout.offset {
            let to = block.add(layout.offset);
            core::ptr::copy_nonoverlapping(from, to, layout.size - layout.offset);
        }
    }
}

/// The copy function that libgomp gets in place of the program's, for a header of `SIZE` bytes.
pub(super) unsafe extern "C-unwind" fn copy<const SIZE: usize>(to: *mut u8, header: *mut u8) {
    type Copy = unsafe extern "C-unwind" fn(*mut u8, *mut u8);
    // SAFETY: libgomp allocated a block of the size it was given, and passes the header that it was
    // given.
    unsafe {
        core::ptr::copy_nonoverlapping(header, to, SIZE);
        let header = header.cast::<Header>();
        let program: Copy = core::mem::transmute((*header).copy);
        program(to.add((*header).offset as usize), (*header).from);
    }
}
