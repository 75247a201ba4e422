//! Recorded runs as a page: a server on this machine, or one file to send.
//!
//! [`answer()`] knows every request of the page (`ui/src/data/contract.ts`) and gives the same
//! bytes for the same request to the server ([`server`]) and to the single-file report ([`html`]).
//! A [`Session`] holds the runs; each loads in stages: the timeline is there before the rest.

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
