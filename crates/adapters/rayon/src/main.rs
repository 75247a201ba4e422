//! The wrapper by itself, for builds driven without the CLI.

fn main() {
    std::process::exit(workspan_rayon::wrapper_main(std::env::args_os()));
}
