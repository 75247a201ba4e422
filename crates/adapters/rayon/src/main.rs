//! The wrapper as a program of its own, for builds without the CLI.

fn main() {
    std::process::exit(workspan_rayon::wrapper_main(std::env::args_os()));
}
