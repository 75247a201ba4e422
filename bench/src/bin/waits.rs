//! The cost of waits: a free mutex of the C library, a read of a byte that is there, and two
//! threads that hand a mutex and a condition variable to and fro, in nanoseconds each.
//!
//! Run alternately by itself and under `workspan record`, it shows the cost of logging waits:
//! `waits`, `workspan record --no-report -- waits`, ...

use std::cell::UnsafeCell;
use std::ffi::{c_int, c_void};
use std::time::Instant;

#[repr(C, align(16))]
struct Object(UnsafeCell<[u8; 64]>);

// SAFETY: only the C library's functions, which are made for that, touch it.
unsafe impl Sync for Object {}

/// All zeros is what the C library's static initialisers are on Linux.
static MUTEX: Object = Object(UnsafeCell::new([0; 64]));
static CONDITION: Object = Object(UnsafeCell::new([0; 64]));
static TURN: Object = Object(UnsafeCell::new([0; 64]));

unsafe extern "C" {
    fn pthread_mutex_lock(mutex: *mut c_void) -> c_int;
    fn pthread_mutex_unlock(mutex: *mut c_void) -> c_int;
    fn pthread_cond_wait(condition: *mut c_void, mutex: *mut c_void) -> c_int;
    fn pthread_cond_signal(condition: *mut c_void) -> c_int;
    fn pipe(ends: *mut c_int) -> c_int;
    fn read(end: c_int, to: *mut c_void, length: usize) -> isize;
    fn write(end: c_int, from: *const c_void, length: usize) -> isize;
}

impl Object {
    fn at(&self) -> *mut c_void {
        self.0.get().cast()
    }
}

/// Nanoseconds per call for `count` calls, in the fastest of a hundred rounds.
fn each(count: u32, mut call: impl FnMut()) -> f64 {
    let mut round = || {
        let begin = Instant::now();
        (0..count).for_each(|_| call());
        begin.elapsed().as_nanos() as f64 / f64::from(count)
    };
    (0..100).map(|_| round()).fold(f64::INFINITY, f64::min)
}

fn free_mutex() -> f64 {
    each(10_000, || {
        // SAFETY: an initialised mutex, locked and unlocked by one thread.
        unsafe {
            pthread_mutex_lock(MUTEX.at());
            pthread_mutex_unlock(MUTEX.at());
        }
    })
}

fn ready_read() -> f64 {
    let mut ends = [0; 2];
    // SAFETY: two numbers to write to; then a byte to read from and to write to.
    unsafe {
        pipe(ends.as_mut_ptr());
        let mut byte = 0u8;
        let byte = (&raw mut byte).cast();
        each(2_000, || {
            write(ends[1], byte, 1);
            read(ends[0], byte, 1);
        })
    }
}

/// Takes `count` turns as this player.
fn play(player: u8, count: u32) {
    // SAFETY: the turn is only read and written under the mutex.
    unsafe {
        pthread_mutex_lock(MUTEX.at());
        let turn = TURN.at().cast::<u8>();
        for _ in 0..count {
            while turn.read_volatile() != player {
                pthread_cond_wait(CONDITION.at(), MUTEX.at());
            }
            turn.write_volatile(1 - player);
            pthread_cond_signal(CONDITION.at());
        }
        pthread_mutex_unlock(MUTEX.at());
    }
}

fn hand_over() -> f64 {
    const TURNS: u32 = 1_000;
    let round = || {
        let begin = Instant::now();
        std::thread::scope(|scope| {
            scope.spawn(|| play(1, TURNS));
            play(0, TURNS);
        });
        begin.elapsed().as_nanos() as f64 / f64::from(TURNS)
    };
    (0..50).map(|_| round()).fold(f64::INFINITY, f64::min)
}

fn main() {
    let (free, read, turn) = (free_mutex(), ready_read(), hand_over());
    println!(
        "free mutex {free:.2}  read and write of a byte {read:.1}  hand-over and back {turn:.0}"
    );
}
