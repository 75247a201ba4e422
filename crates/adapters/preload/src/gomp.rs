//! GNU OpenMP (libgomp), by standing in front of its entry points.
