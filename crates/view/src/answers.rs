//! Answers of words and tables, one module per request.

pub(crate) mod compare;
pub(crate) mod flame;
pub(crate) mod meta;
pub(crate) mod report;
pub(crate) mod scalability;
pub(crate) mod sites;
pub(crate) mod source;
pub(crate) mod sql;
pub(crate) mod summary;
pub(crate) mod tasks;
pub(crate) mod whatif;
