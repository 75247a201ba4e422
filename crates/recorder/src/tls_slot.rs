//! A word of thread-local storage that is read with two moves.
//!
//! A preloaded library's thread-local storage is allocated at the start of the program, at a
//! distance from the thread pointer that the loader fills in (the initial-exec model). The
//! compiler, which cannot know that the library is preloaded, would call `__tls_get_addr` each
//! time.

/// Declares a type whose `get` and `set` read and write the calling thread's pointer, which is null
/// at first. The arguments are its visibility, its name, the type it points to, and a symbol that
/// is unique in the process. Each `get` reads the word again, because code may continue on another
/// thread after a call.
#[macro_export]
macro_rules! tls_slot {
    ($visibility:vis $name:ident: $to:ty, $symbol:literal) => {
        #[derive(Debug, Clone, Copy)]
        $visibility struct $name;

        #[cfg(all(target_arch = "x86_64", not(miri)))]
        ::core::arch::global_asm!(
            concat!(".pushsection .tbss.", $symbol, ",\"awT\",@nobits"),
            ".p2align 3",
            concat!(".globl ", $symbol),
            concat!(".hidden ", $symbol),
            concat!(".type ", $symbol, ",@object"),
            concat!(".size ", $symbol, ",8"),
            concat!($symbol, ":"),
            ".zero 8",
            ".popsection",
        );

        #[cfg(all(target_arch = "x86_64", not(miri)))]
        const _: () = {
            impl $name {
                #[inline(always)]
                $visibility fn get() -> *mut $to {
                    let word: *mut $to;
                    // SAFETY: reads the calling thread's copy of the word declared above.
                    unsafe {
                        ::core::arch::asm!(
                            concat!("mov {0}, qword ptr [rip + ", $symbol, "@GOTTPOFF]"),
                            "mov {0}, qword ptr fs:[{0}]",
                            out(reg) word,
                            options(nostack, preserves_flags, readonly),
                        );
                    }
                    word
                }

                #[inline(always)]
                $visibility fn set(word: *mut $to) {
                    // SAFETY: writes the calling thread's copy of the word declared above.
                    unsafe {
                        ::core::arch::asm!(
                            concat!("mov {0}, qword ptr [rip + ", $symbol, "@GOTTPOFF]"),
                            "mov qword ptr fs:[{0}], {1}",
                            out(reg) _,
                            in(reg) word,
                            options(nostack, preserves_flags),
                        );
                    }
                }
            }
        };

        #[cfg(not(all(target_arch = "x86_64", not(miri))))]
        const _: () = {
            ::std::thread_local! {
                /// Has no destructor, so that it can be used to the very end of a thread.
                static WORD: ::core::cell::Cell<*mut $to> =
                    const { ::core::cell::Cell::new(::core::ptr::null_mut()) };
            }

            impl $name {
                // The barrier keeps the compiler from using one thread's word for another thread.
                #[inline(never)]
                $visibility fn get() -> *mut $to {
                    ::core::hint::black_box(WORD.with(::core::cell::Cell::get))
                }

                #[inline(never)]
                $visibility fn set(word: *mut $to) {
                    WORD.with(|slot| slot.set(word));
                }
            }
        };
    };
}

#[cfg(test)]
mod tests {
    crate::tls_slot!(Word: u8, "workspan_word_of_a_test");

    #[test]
    fn each_thread_has_its_own_word() {
        let mut mine = 1;
        assert!(Word::get().is_null());
        Word::set(&raw mut mine);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                assert!(Word::get().is_null());
                let mut other = 2;
                Word::set(&raw mut other);
                assert_eq!(Word::get(), &raw mut other);
            });
        });
        assert_eq!(Word::get(), &raw mut mine);
    }
}
