//! Variables that `cargo workspan` sets for the rustc wrapper.

/// Path of the unpacked stand-in's `lib.rs` ([`crate::sources::unpack`]). If unset, nothing is
/// replaced.
pub const STAND_IN: &str = "WORKSPAN_STAND_IN";

/// The user's own `RUSTC_WRAPPER`, called with rustc's path and arguments. If unset or empty, rustc
/// itself is called.
pub const USER_WRAPPER: &str = "WORKSPAN_USER_RUSTC_WRAPPER";

/// If not empty, debug information and stripping stay as in the user's profile.
pub const KEEP_PROFILE: &str = "WORKSPAN_KEEP_PROFILE";

/// File to which the wrapper appends notes for the user ([`crate::notes`]). If unset, it writes
/// none.
pub const NOTES: &str = "WORKSPAN_WRAPPER_NOTES";
