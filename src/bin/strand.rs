//! The `strand` program.

fn main() -> std::process::ExitCode {
    std::process::ExitCode::from(nebula::strand::cli::main(std::env::args_os(), nebula::serve_strand, nebula::run_code))
}
