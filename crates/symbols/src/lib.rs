//! Resolves recorded sites to functions, files and lines after the run.
