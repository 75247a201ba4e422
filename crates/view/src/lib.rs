//! The viewer of recorded runs: a server on this machine, or a single file to send.
//!
//! [`answer()`] knows every request of the page (`ui/src/data/contract.ts`). The server
//! ([`server`]) and the single-file report ([`html`]) give the same bytes for the same request. A
//! [`Session`] holds the runs. Each run loads in stages, the timeline first.

pub mod answer;
mod answers;
mod api_error;
mod dag_view;
mod detail;
pub mod html;
mod inside;
mod loading;
mod lru;
mod overview;
pub mod page;
pub mod planes;
pub mod run;
pub mod server;
pub mod session;
mod source_file;
mod timeline;

pub use answer::{Reply, answer};
pub use api_error::ApiError;
pub use run::Run;
pub use session::Session;
