//! The `stubborn` binary.

fn main() -> std::process::ExitCode {
    stubborn::stubborn_main()
}
