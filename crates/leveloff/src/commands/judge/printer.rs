//! Prints results as they come.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use leveloff_model::process::printable;
use leveloff_report::verdict::text::Table;
use leveloff_report::verdict::{json, text};
use leveloff_text::number::thousands;
use leveloff_text::paint::Paint;
use leveloff_text::verdict_counts::VerdictCounts;

use super::case::{Case, Outcome};
use crate::args::{Format, JudgeArgs};
use crate::notice::{is_dumb_terminal, notice};
use crate::stdout::{paint, put};

/// More inputs than this get a line each, unless --verbose is given.
const BLOCKS: usize = 8;

/// More inputs than this are counted in the end.
const UNCOUNTED: usize = 3;

/// A wait of this length gets a progress line.
const SILENCE: Duration = Duration::from_secs(1);

/// Prints results as they come.
pub(crate) struct Printer {
    style: Style,
    inputs: usize,
    counts: VerdictCounts,
    began: Instant,
    /// Stderr is a terminal that can redraw a line.
    is_watched: bool,
    /// A progress line is on the terminal.
    is_waiting_shown: bool,
    /// The error that ended the output.
    failure: Option<io::Error>,
}

#[derive(Debug, PartialEq, Eq)]
enum Style {
    Json,
    Blocks(Paint),
    Table(Table),
}

impl Printer {
    pub(crate) fn new(args: &JudgeArgs, cases: &[Case]) -> Printer {
        let style = match args.format {
            Format::Json => Style::Json,
            Format::Text if args.verbose || cases.len() <= BLOCKS => Style::Blocks(paint()),
            Format::Text => Style::Table(table(cases)),
        };
        Printer {
            style,
            inputs: cases.len(),
            counts: VerdictCounts::default(),
            began: Instant::now(),
            is_watched: io::stderr().is_terminal() && !is_dumb_terminal(),
            is_waiting_shown: false,
            failure: None,
        }
    }

    /// Prints the next result.
    pub(crate) fn print(&mut self, case: &Case, result: &Result<Outcome>) {
        self.clear_waiting();
        match result {
            Ok(outcome) => self.print_outcome(case, outcome),
            Err(error) => self.print_error(case, &format!("{error:#}")),
        }
    }

    /// Says how far it is, after a while.
    pub(crate) fn waiting(&mut self, done: usize) {
        if self.is_watched && self.began.elapsed() >= SILENCE {
            let (done, all) = (thousands(done as u64), thousands(self.inputs as u64));
            let line = format!("\r\x1b[Kleveloff: {done} of {all} judged");
            // A closed stderr must not cost the verdict.
            let _ = io::stderr().write_all(line.as_bytes());
            self.is_waiting_shown = true;
        }
    }

    /// Prints the totals. It is no error if the reader, such as `head`, closes the pipe early.
    pub(crate) fn finish(mut self) -> Result<()> {
        self.clear_waiting();
        if self.style != Style::Json && self.inputs > UNCOUNTED {
            self.put(&match &self.style {
                Style::Table(table) => table.total(&self.counts),
                _ => format!("\n{}", self.counts.line("inputs")),
            });
        }
        match self.failure {
            Some(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(error).context("cannot print the verdict")
            }
            _ => Ok(()),
        }
    }

    fn print_outcome(&mut self, case: &Case, outcome: &Outcome) {
        let judged = outcome.judged(self.name(case));
        let text = match &self.style {
            Style::Json => json::object(&judged) + "\n",
            Style::Table(table) => table.row(&judged),
            Style::Blocks(paint) => {
                let gap = if self.counts.all() > 0 { "\n" } else { "" };
                format!("{gap}{}", text::block(&judged, *paint))
            }
        };
        self.put(&text);
        self.counts.add(outcome.verdict.verdict);
    }

    fn print_error(&mut self, case: &Case, error: &str) {
        notice(&printable(format!("{}: {error}", case.title()).as_bytes()));
        let name = self.name(case);
        match &self.style {
            Style::Json => self.put(&(json::error(name, error) + "\n")),
            Style::Table(table) => self.put(&table.error_row(name)),
            Style::Blocks(_) => {}
        }
        self.counts.add_error();
    }

    /// Programs find an input by the name they gave it.
    fn name<'a>(&self, case: &'a Case) -> &'a str {
        match self.style {
            Style::Json => case.name(),
            Style::Blocks(_) | Style::Table(_) => case.title(),
        }
    }

    /// Judging goes on when stdout is closed: the exit code is needed as well.
    fn put(&mut self, text: &str) {
        if self.failure.is_none() {
            self.failure = put(text).err();
        }
    }

    fn clear_waiting(&mut self) {
        if std::mem::take(&mut self.is_waiting_shown) {
            let _ = io::stderr().write_all(b"\r\x1b[K");
        }
    }
}

/// Names are shortened on a terminal, and whole in a pipe.
fn table(cases: &[Case]) -> Table {
    let names = cases.iter().map(Case::title);
    if io::stdout().is_terminal() {
        Table::shortened(names, paint())
    } else {
        Table::new(names, paint())
    }
}
