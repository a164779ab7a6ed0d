//! What is said while the run goes on: a line when something changes, or a line at regular times.
//!
//! At most one line a minute is said of changes. What changes in between is not lost: the state is compared with what was
//! said last, so the newest change is said when its time has come.

mod exits;

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use leveloff_classifier::observation::XUnit;
use leveloff_classifier::run_analysis::RunAccount;
use leveloff_classifier::verdict::{Grade, RunVerdict, Verdict, WillFinish};
use leveloff_model::progress::Progress;
use leveloff_model::sample::Tick;
use leveloff_model::units::{Bytes, Seconds};
use leveloff_text::voice::{Change, monitor_line, words};

use crate::live_analysis::LiveAnalysis;
use crate::notice::{is_screen_taken, notice_beside_dashboard};
use exits::Exits;

/// What the user wants to read while the run goes on.
#[derive(Debug, Clone, Default)]
pub(crate) struct VoiceOptions {
    pub mode: VoiceMode,
    /// Where the lines go, if not to stderr.
    pub file: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum VoiceMode {
    /// Nothing.
    Quiet,
    /// A line when something changes.
    #[default]
    Changes,
    /// The same, and a line with the numbers each time that so much has passed.
    Every(Duration),
}

/// Between two lines about changes.
const PAUSE: Seconds = Seconds(60.0);

/// A verdict costs up to a millisecond.
const BETWEEN_LOOKS: Seconds = Seconds(1.0);

/// Growth over so short a time may be the start of anything.
const YOUNG: Seconds = Seconds(10.0);

/// Without steps, importing and loading look like growth for so long.
const STARTING: Seconds = Seconds(60.0);

/// A limit that growth meets later than this is not worth a line.
const FAR: f64 = 24.0 * 3600.0;

/// Each time that less than this is left, the risk is said again.
const NEARER: [f64; 4] = [3600.0, 900.0, 300.0, 60.0];

/// Of the limit, what is near, and what is not near any more.
const NEAR: f64 = 0.9;
const NOT_NEAR: f64 = 0.8;

pub(crate) struct Voice {
    every: Option<Seconds>,
    file: Option<(PathBuf, File)>,
    next_line: Seconds,
    next_look: Seconds,
    quiet_until: Seconds,
    said: Said,
    exits: Exits,
}

/// What was said last.
#[derive(Debug, Default)]
struct Said {
    verdict: Option<Decided>,
    /// The time left that the last line about the risk was said for.
    time_left: Option<f64>,
    /// That the run will be killed.
    is_killed: bool,
    is_near: bool,
}

/// A verdict that is worth a line; the grade of a level is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Decided {
    Open,
    Level,
    Leak(Grade),
}

impl From<Verdict> for Decided {
    fn from(verdict: Verdict) -> Decided {
        match verdict {
            Verdict::WarmingUp | Verdict::Undecided => Decided::Open,
            Verdict::Level(_) => Decided::Level,
            Verdict::Leak(grade) => Decided::Leak(grade),
        }
    }
}

impl VoiceOptions {
    /// Nothing is said: another command says it.
    pub(crate) fn quiet() -> VoiceOptions {
        VoiceOptions {
            mode: VoiceMode::Quiet,
            file: None,
        }
    }

    /// Opens the file, if there is one; `None` if nothing is to be said.
    pub(crate) fn open(&self) -> Result<Option<Voice>> {
        let every = match self.mode {
            VoiceMode::Quiet => return Ok(None),
            VoiceMode::Changes => None,
            VoiceMode::Every(time) => Some(Seconds(time.as_secs_f64())),
        };
        let file = self.file.as_ref().map(|path| {
            let opened = File::options().append(true).create(true).open(path);
            let opened = opened.with_context(|| {
                format!(
                    "cannot open {} for the lines of --voice-file",
                    path.display()
                )
            });
            opened.map(|file| (path.clone(), file))
        });
        Ok(Some(Voice {
            next_line: every.unwrap_or(Seconds(0.0)),
            every,
            file: file.transpose()?,
            next_look: YOUNG,
            quiet_until: Seconds(0.0),
            said: Said::default(),
            exits: Exits::default(),
        }))
    }
}

impl Voice {
    /// Says what there is to say after a tick; `prepare` makes room on the terminal.
    pub(crate) fn follow(
        &mut self,
        tick: &Tick,
        analysis: &LiveAnalysis,
        mut prepare: impl FnMut(),
    ) {
        let now = tick.sample.t;
        self.exits.note(tick, analysis.run());
        if let Some(every) = self.every.filter(|_| now >= self.next_line) {
            self.next_line = Seconds(now.0 + every.0);
            if let Some(account) = analysis.account() {
                prepare();
                self.say(&monitor(&account, &tick.sample.progress));
            }
        }
        if now < self.next_look || now < self.quiet_until || is_screen_taken() {
            return;
        }
        self.next_look = Seconds(now.0 + BETWEEN_LOOKS.0);
        let Some(run) = analysis.verdict() else {
            return;
        };
        let memory = tick.sample.tree().total;
        let change = self.said.change(&run, memory, now);
        let change = change.or_else(|| self.exits.settled(now, analysis.run()).map(Change::Exited));
        if let Some(change) = change {
            prepare();
            self.say(&words(&change, &tick.sample.progress));
            self.quiet_until = Seconds(now.0 + PAUSE.0);
        }
    }

    /// A run that is started again is another one.
    pub(crate) fn restart(&mut self) {
        self.said = Said::default();
        self.exits = Exits::default();
    }

    fn say(&mut self, text: &str) {
        let Some((path, file)) = &mut self.file else {
            return notice_beside_dashboard(text);
        };
        let time = jiff::Zoned::now().strftime("%Y-%m-%dT%H:%M:%S%:z");
        if let Err(error) = file.write_all(format!("{time} {text}\n").as_bytes()) {
            let path = path.display();
            notice_beside_dashboard(&format!(
                "cannot write to {path}: {error}; what is said of the run goes here from now on"
            ));
            self.file = None;
            notice_beside_dashboard(text);
        }
    }
}

impl Said {
    /// What changed, the gravest first; it counts as said.
    fn change<'a>(
        &mut self,
        run: &'a RunVerdict,
        memory: Bytes,
        now: Seconds,
    ) -> Option<Change<'a>> {
        self.verdict(run)
            .or_else(|| self.near_limit(run, memory))
            .or_else(|| self.risk(run, now))
    }

    fn verdict<'a>(&mut self, run: &'a RunVerdict) -> Option<Change<'a>> {
        let decided = Decided::from(run.verdict);
        let before = self.verdict.unwrap_or(Decided::Open);
        if decided == before {
            return None;
        }
        self.verdict = Some(decided);
        // The line of a verdict has the risk as well.
        self.time_left = run
            .risk
            .as_ref()
            .and_then(|risk| risk.in_time)
            .map(|it| it.0);
        self.is_killed = matches!(run.will_finish, WillFinish::No(_));
        Some(Change::Verdict(run))
    }

    fn near_limit<'a>(&mut self, run: &RunVerdict, memory: Bytes) -> Option<Change<'a>> {
        let limit = run.limit?;
        let share = memory.0 as f64 / limit.0.max(1) as f64;
        let was_near = self.is_near;
        self.is_near = share >= NEAR || was_near && share >= NOT_NEAR;
        (self.is_near && !was_near).then_some(Change::NearLimit { memory, limit })
    }

    fn risk<'a>(&mut self, run: &'a RunVerdict, now: Seconds) -> Option<Change<'a>> {
        let is_killed = matches!(run.will_finish, WillFinish::No(_));
        if self.is_killed && matches!(run.will_finish, WillFinish::Yes(_)) {
            self.is_killed = false;
            self.time_left = None;
            return Some(Change::Finishes(run));
        }
        if run.verdict.is_level() || run.x_unit == XUnit::Second && now < STARTING {
            return None;
        }
        let risk = run.risk.as_ref()?;
        let left = risk.in_time?.0;
        // The interval of the rate must exclude that nothing grows.
        if risk.latest_x.is_none()
            || !is_nearer(left, self.time_left) && is_killed == self.is_killed
        {
            return None;
        }
        if left > FAR && !is_killed {
            return None;
        }
        self.time_left = Some(left);
        self.is_killed = is_killed;
        Some(Change::Risk(run))
    }
}

/// Whether so little time is left that it is said (again).
fn is_nearer(left: f64, said: Option<f64>) -> bool {
    match said {
        None => true,
        Some(said) => NEARER.iter().any(|mark| left < *mark && *mark <= said),
    }
}

fn monitor(account: &RunAccount, progress: &Progress) -> String {
    let time = jiff::Zoned::now().strftime("%H:%M:%S").to_string();
    monitor_line(&time, account, progress)
}

#[cfg(test)]
mod tests;
