//! Titles and endings of recorded runs, for the screen.

use std::path::Path;

use leveloff_dashboard::event::SourceEvent;
use leveloff_model::recording::{End, EndReason, Header, Target};

pub(crate) fn title(header: &Header, path: &Path) -> String {
    match &header.target {
        Target::Command(words) if !words.is_empty() => short_command(words),
        Target::Attached(pid) => format!("pid {pid}"),
        Target::System => "every process".to_owned(),
        Target::Command(_) => path.display().to_string(),
    }
}

/// A command without the directory of its program, for a short line.
pub(crate) fn short_command(words: &[String]) -> String {
    let Some((program, arguments)) = words.split_first() else {
        return String::new();
    };
    let name = program.rsplit('/').next().unwrap_or(program);
    let all = std::iter::once(name).chain(arguments.iter().map(String::as_str));
    all.collect::<Vec<_>>().join(" ")
}

fn how_it_ended(end: Option<&End>) -> String {
    match end.map(|end| end.reason) {
        Some(EndReason::Exited(code)) => format!("the command ended with code {code}"),
        Some(EndReason::Signalled(signal)) => format!("the command was ended by signal {signal}"),
        Some(EndReason::TargetGone) => "the run ended".to_owned(),
        Some(EndReason::Duration) => "the time for recording was over; the run went on".to_owned(),
        Some(EndReason::Other) => {
            "ended for a reason that this version of leveloff does not know".to_owned()
        }
        Some(EndReason::Stopped) => "recording was stopped; the run went on".to_owned(),
        None => "the recording ends here; its recorder was killed, or still runs".to_owned(),
    }
}

/// Tells the dashboard that a recording has no more ticks.
pub(crate) fn end_event(end: Option<&End>) -> SourceEvent {
    let how = how_it_ended(end);
    match end.is_some_and(|end| end.reason.is_end_of_run()) {
        true => SourceEvent::Ended(how),
        false => SourceEvent::RecordingEnded(how),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_without_the_directory_of_its_program() {
        let words = ["/opt/conda/bin/python", "train.py", "/data"].map(str::to_owned);
        assert_eq!(short_command(&words), "python train.py /data");
        assert_eq!(short_command(&[]), "");
    }
}
