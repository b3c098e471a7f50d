//! The `strand` program.

fn main() -> std::process::ExitCode {
    #[cfg(all(feature = "strand", feature = "code"))]
    if let Some(code) = nebula::lsp::stage_main() {
        return code;
    }
    std::process::ExitCode::from(nebula::cli::strand(std::env::args_os()))
}
