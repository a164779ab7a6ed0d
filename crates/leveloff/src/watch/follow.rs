//! A recording that another leveloff is writing.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use leveloff_dashboard::event::{Event, Mode, SourceNews, Subject};
use leveloff_dashboard::theme::Look;
use leveloff_model::recording::{RecordingReader, Target};

use super::{how_it_ended, title};
use crate::cli::WatchingArgs;
use crate::notice::notice;
use crate::session::where_recorded;
use crate::show::{Answers, Programme, Show};

/// How often the file is looked at. A recorder writes once a second, the screen shows twice a second.
const PACE: Duration = Duration::from_millis(250);

type Reader = RecordingReader<BufReader<File>>;

/// Follows until the user leaves; when the recording ends before, its end stays on the screen.
pub fn run(args: &WatchingArgs, path: &Path, look: Look) -> Result<ExitCode> {
    let mut reader = open(path)?;
    let header = reader.header();
    let show = Show::open(Programme {
        subject: Subject {
            title: title(header, path),
            recording: Some(path.to_owned()),
            mode: match header.target {
                Target::System => Mode::System,
                Target::Command(_) | Target::Attached(_) => Mode::Follow,
            },
        },
        stated: args.watch.facts.over(&header.stated),
        look,
        answers: Answers::about(Some(path)).with_facts(&args.watch.facts),
    })?;
    follow(&mut reader, &show)?;
    if let Some(verdict) = show.wait() {
        notice(&verdict);
    }
    notice(&where_recorded(path));
    Ok(ExitCode::SUCCESS)
}

/// The recording at its beginning.
pub fn open(path: &Path) -> Result<Reader> {
    let file = File::open(path).with_context(|| {
        let path = path.display();
        format!("cannot open the recording {path}; leveloff run and leveloff record make one")
    })?;
    RecordingReader::new(BufReader::with_capacity(1 << 16, file))
        .with_context(|| path.display().to_string())
}

/// Until the recording has ended, or nobody looks. What is there already comes first, as fast as it
/// can be shown; a line that is not whole yet waits for its rest.
fn follow(reader: &mut Reader, show: &Show) -> Result<()> {
    loop {
        while let Some(tick) = reader.next_tick()? {
            if !show.send(Event::Tick(Box::new(tick))) {
                return Ok(());
            }
        }
        if reader.end().is_some() {
            show.tell(SourceNews::Ended(how_it_ended(reader.end())));
            return Ok(());
        }
        if show.is_left_by(Instant::now() + PACE)? {
            return Ok(());
        }
    }
}
