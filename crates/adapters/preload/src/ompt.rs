//! LLVM OpenMP (libomp, libiomp5), told by its tools interface, OMPT.
