//! Does the memory of this training run level off, or does it leak?

use std::process::ExitCode;

fn main() -> anyhow::Result<ExitCode> {
    let mut arguments = std::env::args().skip(1);
    match (arguments.next().as_deref(), arguments.next().as_deref()) {
        (Some("doctor"), None) => leveloff::doctor::run(leveloff::doctor::Format::Text),
        (Some("doctor"), Some(_)) => leveloff::doctor::run(leveloff::doctor::Format::Json),
        _ => Ok(ExitCode::from(2)),
    }
}
