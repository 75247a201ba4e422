//! The MPI library of the process: its functions, and the differences between the two families.
//!
//! Open MPI's handles are pointers. Those of MPICH and its relatives (Intel MPI, MVAPICH, Cray
//! MPICH, which share an ABI) are 32-bit numbers.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use crate::libc_symbol::{self, dlsym};
use crate::loaded_files::{self, is_ours};

const RTLD_LAZY: c_int = 1;
const RTLD_NOLOAD: c_int = 4;

unsafe extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
}

/// The address of the MPI library's function or object with this name; 0 if there is none.
pub(super) fn look_up(name: &CStr) -> usize {
    match libc_symbol::look_up(name) {
        0 => look_up_in_library(name),
        found => found,
    }
}

/// Like [`look_up`], for a library that was loaded only for the use of another one, as Python loads
/// its extensions.
#[cold]
fn look_up_in_library(name: &CStr) -> usize {
    let inside = loaded_files::with(|objects| {
        let functions = objects.list.iter();
        let mut functions = functions.filter_map(|object| object.function(c"PMPI_Barrier"));
        functions.find(|&function| !is_ours(function))
    });
    let Some(inside) = inside else {
        return 0;
    };
    let path = loaded_files::with_path_of(inside, |path| {
        let mut path = path.to_vec();
        path.push(0);
        path
    });
    let Some(path) = path else {
        return 0;
    };
    // SAFETY: the path is zero-terminated, and the name is a C string. The file is loaded, and
    // stays loaded.
    unsafe {
        let library = dlopen(path.as_ptr().cast(), RTLD_LAZY | RTLD_NOLOAD);
        match library.is_null() {
            true => 0,
            false => dlsym(library, name.as_ptr()) as usize,
        }
    }
}

/// The two families of MPI libraries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MpiFamily {
    OpenMpi,
    Mpich,
}

/// 0 before the family was determined.
static FAMILY: AtomicU8 = AtomicU8::new(0);
/// Open MPI's communicator of all ranks.
static WORLD: AtomicUsize = AtomicUsize::new(0);

impl MpiFamily {
    /// The family of the process's library.
    pub(super) fn of_process() -> MpiFamily {
        match FAMILY.load(Ordering::Acquire) {
            1 => MpiFamily::OpenMpi,
            2 => MpiFamily::Mpich,
            _ => MpiFamily::look(),
        }
    }

    #[cold]
    fn look() -> MpiFamily {
        // The program may have a copy of the object, which the library then uses too.
        // SAFETY: the name is a C string; `RTLD_DEFAULT` is null.
        let shared = unsafe { dlsym(core::ptr::null_mut(), c"ompi_mpi_comm_world".as_ptr()) };
        let world = match shared.is_null() {
            true => look_up(c"ompi_mpi_comm_world"),
            false => shared as usize,
        };
        WORLD.store(world, Ordering::Release);
        let (family, code) = match world {
            0 => (MpiFamily::Mpich, 2),
            _ => (MpiFamily::OpenMpi, 1),
        };
        FAMILY.store(code, Ordering::Release);
        family
    }

    /// `MPI_COMM_WORLD`
    pub(super) fn world(self) -> usize {
        match self {
            MpiFamily::OpenMpi => WORLD.load(Ordering::Acquire),
            MpiFamily::Mpich => 0x4400_0000,
        }
    }

    /// `MPI_ANY_SOURCE`
    pub(super) fn any_source(self) -> i32 {
        match self {
            MpiFamily::OpenMpi => -1,
            MpiFamily::Mpich => -2,
        }
    }

    /// `MPI_STATUS_IGNORE`, and `MPI_STATUSES_IGNORE`
    pub(super) fn no_status(self) -> usize {
        match self {
            MpiFamily::OpenMpi => 0,
            MpiFamily::Mpich => 1,
        }
    }

    /// The size of a status.
    pub(super) fn status_size(self) -> usize {
        match self {
            MpiFamily::OpenMpi => 24,
            MpiFamily::Mpich => 20,
        }
    }

    /// Source and tag in a status.
    ///
    /// # Safety
    /// There is a status at this address.
    pub(super) unsafe fn source_and_tag(self, status: usize) -> (i32, i32) {
        let words = status as *const i32;
        let first = match self {
            MpiFamily::OpenMpi => 0,
            MpiFamily::Mpich => 2,
        };
        // SAFETY: the caller guarantees the status; both structures have these words.
        unsafe {
            (
                words.add(first).read_unaligned(),
                words.add(first + 1).read_unaligned(),
            )
        }
    }

    /// The handle in an argument.
    pub(super) fn handle(self, argument: usize) -> usize {
        match self {
            MpiFamily::OpenMpi => argument,
            MpiFamily::Mpich => argument as u32 as usize,
        }
    }

    /// The `i`-th handle at that address.
    ///
    /// # Safety
    /// At least `i + 1` handles are at `address`.
    pub(super) unsafe fn handle_at(self, address: usize, i: usize) -> usize {
        // SAFETY: the caller guarantees the handles.
        unsafe {
            match self {
                MpiFamily::OpenMpi => (address as *const usize).add(i).read_unaligned(),
                MpiFamily::Mpich => (address as *const u32).add(i).read_unaligned() as usize,
            }
        }
    }
}

type HandleQuery = unsafe extern "C" fn(usize, *mut usize) -> c_int;
type Number = unsafe extern "C" fn(usize, *mut c_int) -> c_int;
type Translate = unsafe extern "C" fn(usize, c_int, *const c_int, usize, *mut c_int) -> c_int;
type HandleRelease = unsafe extern "C" fn(*mut usize) -> c_int;

/// The functions that describe communicators, by their profiling names, so that no other tool sees
/// our calls.
struct Functions {
    is_inter: Number,
    group: HandleQuery,
    size: Number,
    translate: Translate,
    free: HandleRelease,
}

impl Functions {
    fn find() -> Option<Functions> {
        let address = |name| Some(look_up(name)).filter(|&found| found != 0);
        // SAFETY: the types are those of the standard. Handles are passed as words: a 32-bit number
        // is in the lower half of its register.
        unsafe {
            Some(Functions {
                is_inter: core::mem::transmute::<usize, Number>(address(c"PMPI_Comm_test_inter")?),
                group: core::mem::transmute::<usize, HandleQuery>(address(c"PMPI_Comm_group")?),
                size: core::mem::transmute::<usize, Number>(address(c"PMPI_Group_size")?),
                translate: core::mem::transmute::<usize, Translate>(address(
                    c"PMPI_Group_translate_ranks",
                )?),
                free: core::mem::transmute::<usize, HandleRelease>(address(c"PMPI_Group_free")?),
            })
        }
    }
}

/// For each rank of a communicator, its number in `MPI_COMM_WORLD`; `u32::MAX` if it has none
/// there. `None` for a communicator between two groups, and if the library does not say.
pub(super) fn ranks_of(communicator: usize) -> Option<Vec<u32>> {
    /// The largest number of ranks. No run has more.
    const MAX_RANKS: c_int = 1 << 24;
    let functions = Functions::find()?;
    let family = MpiFamily::of_process();
    let mut between = 0;
    let mut size = 0;
    // 32-bit numbers are stored in the lower half.
    let (mut group, mut all) = (0usize, 0usize);
    // SAFETY: the communicator belongs to the program, which uses it in the current call; the
    // results are stored in variables that have room for handles of both kinds.
    unsafe {
        if (functions.is_inter)(communicator, &raw mut between) != 0
            || between != 0
            || (functions.group)(communicator, &raw mut group) != 0
        {
            return None;
        }
        let mut ranks = None;
        if (functions.size)(group, &raw mut size) == 0
            && (1..=MAX_RANKS).contains(&size)
            && (functions.group)(family.world(), &raw mut all) == 0
        {
            let own: Vec<c_int> = (0..size).collect();
            let mut told = vec![-1; size as usize];
            let done = (functions.translate)(group, size, own.as_ptr(), all, told.as_mut_ptr());
            ranks = (done == 0).then_some(told);
            (functions.free)(&raw mut all);
        }
        (functions.free)(&raw mut group);
        let number = |rank: c_int| u32::try_from(rank).unwrap_or(u32::MAX);
        Some(ranks?.into_iter().map(number).collect())
    }
}
