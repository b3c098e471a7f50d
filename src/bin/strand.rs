//! The `strand` program.

fn main() -> std::process::ExitCode {
    std::process::ExitCode::from(nebula::cli::strand(std::env::args_os()))
}
