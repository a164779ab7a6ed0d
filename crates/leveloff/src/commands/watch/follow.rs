//! A recording that another leveloff is writing.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use leveloff_dashboard::event::{Event, Mode, Subject};
use leveloff_dashboard::theme::Styles;
use leveloff_model::recording::{RecordingReader, Target};

use crate::args::WatchArgs;
use crate::commands::run_title::{end_event, title};
use crate::exit_code::Exit;
use crate::notice::notice;
use crate::screen_thread::{RequestHandler, ScreenOptions, ScreenThread};
use crate::session::where_recorded;

/// How often the file is looked at. A recorder writes once a second, the screen shows twice a second.
const PACE: Duration = Duration::from_millis(250);

type Reader = RecordingReader<BufReader<File>>;

/// Follows until the user leaves; when the recording ends before, its end stays on the screen.
pub(crate) fn run(args: &WatchArgs, path: &Path, styles: Styles) -> Result<Exit> {
    let mut reader = open(path)?;
    let header = reader.header();
    let screen = ScreenThread::open(ScreenOptions {
        subject: Subject {
            title: title(header, path),
            recording: Some(path.to_owned()),
            is_machine: header.target == Target::System,
            mode: match header.target {
                Target::System => Mode::System,
                Target::Command(_) | Target::Attached(_) => Mode::Follow,
            },
        },
        stated: args.sampling.facts.stated().or(&header.stated),
        styles,
        requests: RequestHandler::about(Some(path)).with_facts(args.sampling.facts.stated()),
    })?;
    follow(&mut reader, &screen)?;
    if let Some(verdict) = screen.wait() {
        notice(&verdict);
    }
    notice(&where_recorded(path));
    Ok(Exit::Success)
}

/// The recording at its beginning.
pub(crate) fn open(path: &Path) -> Result<Reader> {
    let file = File::open(path).with_context(|| {
        let path = path.display();
        format!("cannot open the recording {path}; leveloff run and leveloff record make one")
    })?;
    RecordingReader::new(BufReader::with_capacity(1 << 16, file))
        .with_context(|| path.display().to_string())
}

/// Until the recording has ended, or the user leaves. Existing lines come first, as fast as they
/// can be shown; a line that is not whole yet waits for its rest.
fn follow(reader: &mut Reader, screen: &ScreenThread) -> Result<()> {
    loop {
        while let Some(tick) = reader.next_tick()? {
            if !screen.send(Event::Tick(Box::new(tick))) {
                return Ok(());
            }
        }
        if reader.end().is_some() {
            screen.show_source(end_event(reader.end()));
            return Ok(());
        }
        if screen.is_left_by(Instant::now() + PACE)? {
            return Ok(());
        }
    }
}
