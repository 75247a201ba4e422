//! Rayon: the stand-in for rayon-core and the rustc wrapper that slips it in.
