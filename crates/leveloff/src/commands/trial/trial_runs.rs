//! What a trial has measured so far, and what follows from it.

use std::path::Path;

use anyhow::{Result, bail};
use leveloff_classifier::finding::Finding;
use leveloff_classifier::observation::XUnit;
use leveloff_classifier::trial::{
    ArmResult, ArmState, ArmSummary, Effect, RunOver, Stretch, TrialSummary, TriedVersion,
    UNDECIDED_REPEATS,
};
use leveloff_classifier::units::{Amount, X};
use leveloff_classifier::verdict::Verdict;
use leveloff_report::run_report::RunReport;
use leveloff_report::trial::{TrialReport, TrialRun};

use super::arm::Arm;
use super::axis::{Axis, LOOKS};
use super::job_facts::JobFacts;
use super::job_log::last_line;
use super::next_run::ArmProgress;
use super::resume_command::resume_command;
use super::run_process::{EndedRun, Ending};

/// The runs of a trial.
#[derive(Debug)]
pub(super) struct TrialRuns {
    pub control: Vec<EndedRun>,
    /// What is known of the control run once it leaks.
    pub axis: Option<Axis>,
    pub arms: Vec<TriedArm>,
    /// How often a change that stops or reduces the growth must show it.
    pub repeats: u32,
    /// Whether runs went on side by side; then their speeds say nothing.
    pub is_crowded: bool,
}

/// One change with its runs.
#[derive(Debug)]
pub(super) struct TriedArm {
    pub arm: Arm,
    pub runs: Vec<EndedRun>,
    /// Why it is not measured.
    pub state: Option<ArmState>,
    /// Runs that had too few samples to be compared, and were made again.
    pub spoiled: u32,
    /// Why a further run could not be compared, after others could: no more are made.
    pub left_out: Option<String>,
}

impl TriedArm {
    /// Whether the newest run counted steps.
    fn has_steps(&self) -> bool {
        let report = self.runs.last().and_then(|run| run.report.as_ref());
        let progress = report.and_then(|report| report.progress.as_ref());
        progress.is_some_and(|progress| progress.step.is_some())
    }

    /// The newest run cannot be compared. What earlier runs showed still counts.
    fn leave_out(&mut self, ending: Ending, is_recorded: bool, log: &Path) {
        let why = match ending {
            // It is repeated when the trial goes on.
            Ending::Interrupted | Ending::OutOfTime => {
                self.runs.pop();
                return;
            }
            Ending::Enough if self.spoiled < MOST_SPOILED => {
                self.runs.pop();
                self.spoiled += 1;
                return;
            }
            Ending::Enough | Ending::Exited(0) | Ending::Limit => {
                format!(
                    "{}; its output is in {}",
                    why_not(ending, is_recorded),
                    log.display()
                )
            }
            Ending::TooSlow if !self.has_steps() => {
                format!("{NO_STEPS}; its output is in {}", log.display())
            }
            _ => ending_words(ending, log),
        };
        if self.runs.len() > 1 {
            self.runs.pop();
            self.left_out = Some(why);
        } else {
            self.state = Some(ArmState::Failed(why));
        }
    }
}

const NO_STEPS: &str = "no step of it was counted: it hung, or the lines that hold its steps have to be named by --step-regex";

fn why_not(ending: Ending, is_recorded: bool) -> &'static str {
    match is_recorded {
        true if ending == Ending::Enough => {
            "it has too few samples beside the control run; a shorter --interval takes more"
        }
        true => "it ended before it could be compared with the control run",
        false => "nothing was recorded",
    }
}

impl TrialRuns {
    pub(super) fn new(arms: Vec<Arm>, repeats: u32, is_crowded: bool) -> TrialRuns {
        let tried = |arm| TriedArm {
            arm,
            runs: Vec::new(),
            state: None,
            spoiled: 0,
            left_out: None,
        };
        TrialRuns {
            control: Vec::new(),
            axis: None,
            arms: arms.into_iter().map(tried).collect(),
            repeats,
            is_crowded,
        }
    }

    /// What the control run showed.
    pub(super) fn findings(&self) -> &[Finding] {
        let report = self.controls().next();
        report.map_or(&[], |report| &report.verdict.findings)
    }

    pub(super) fn controls(&self) -> impl Iterator<Item = &RunReport> {
        reports(&self.control)
    }

    /// Takes the first control run. What a reader of the answer must know of it; an error if there is nothing to compare
    /// with.
    pub(super) fn take_first_control(&mut self, ended: EndedRun) -> Result<Option<String>> {
        let log = ended.recording.with_extension("log");
        if ended.ending.is_failure() {
            bail!(
                "the control run failed: {}",
                ending_words(ended.ending, &log)
            );
        }
        let Some(report) = &ended.report else {
            if ended.ending == Ending::Interrupted {
                return Ok(None);
            }
            let why = ending_words(ended.ending, &log);
            bail!("the control run could not be recorded: {why}");
        };
        let axis = Axis::of(report).filter(|_| ended.ending != Ending::Interrupted);
        let is_leak = matches!(report.verdict.verdict, Verdict::Leak(_));
        self.axis = axis;
        let note = match ended.ending {
            Ending::Limit => Some(ENDED_AT_LIMIT),
            Ending::OutOfTime => Some(ENDED_AT_MAX_TIME),
            Ending::Enough | Ending::Exited(_) if is_leak && axis.is_none() => Some(NO_MEMORY),
            _ => None,
        };
        self.control.push(ended);
        Ok(note.map(str::to_owned))
    }

    /// Takes another control run. It counts if it came as far as the runs that it stands beside; else why not.
    pub(super) fn take_control(&mut self, number: u32, ended: EndedRun) -> Option<String> {
        let is_whole = matches!(
            ended.ending,
            Ending::Enough | Ending::Exited(0) | Ending::Limit
        );
        let log = ended.recording.with_extension("log");
        let ending = ended.ending;
        if is_whole && ended.report.is_some() {
            self.control.push(ended);
            return None;
        }
        let why = ending_words(ending, &log);
        (ending != Ending::Interrupted).then(|| format!("control run {number} is left out: {why}"))
    }

    /// Leaves out what changes nothing for a job that uses no more than this.
    pub(super) fn leave_out(&mut self, facts: &JobFacts, is_auto: bool) {
        for tried in &mut self.arms {
            let why = tried.arm.is_left_out(facts, is_auto);
            tried.state = why.map(ArmState::NotApplicable);
        }
    }

    /// How often the trial asks whether a change helps.
    pub(super) fn comparisons(&self) -> u32 {
        let is_tried = |tried: &&TriedArm| !matches!(tried.state, Some(ArmState::NotApplicable(_)));
        let arms = self.arms.iter().filter(is_tried).count();
        let looks = LOOKS.len() * arms.max(1);
        u32::try_from(looks)
            .unwrap_or(u32::MAX)
            .saturating_mul(self.repeats)
            .saturating_mul(UNDECIDED_REPEATS)
    }

    /// What a change does, with a run that is still going on.
    pub(super) fn result_with(&self, place: usize, going: Option<&RunReport>) -> Option<ArmResult> {
        let tried = &self.arms[place];
        if matches!(tried.state, Some(ArmState::Failed(_))) {
            return None;
        }
        let controls: Vec<&RunReport> = self.controls().collect();
        let arms: Vec<&RunReport> = reports(&tried.runs).chain(going).collect();
        let result = self.axis?.compared(&controls, &arms, self.comparisons())?;
        Some(ArmResult {
            speed: result.speed.filter(|_| !self.is_crowded),
            ..result
        })
    }

    pub(super) fn result(&self, place: usize) -> Option<ArmResult> {
        self.result_with(place, None)
    }

    pub(super) fn effect(&self, place: usize) -> Option<Effect> {
        self.result(place).map(|result| result.effect)
    }

    /// Takes a run of a change that has ended; what all its runs say, if this one can be compared.
    pub(super) fn take(&mut self, place: usize, ended: EndedRun) -> Option<ArmResult> {
        let log = ended.recording.with_extension("log");
        let (ending, is_recorded) = (ended.ending, ended.report.is_some());
        self.arms[place].runs.push(ended);
        let result = self.result(place).filter(|_| !ending.is_failure());
        if result.is_none() {
            self.arms[place].leave_out(ending, is_recorded, &log);
        }
        result
    }

    /// How far a change is.
    pub(super) fn progress(&self, place: usize) -> ArmProgress {
        let tried = &self.arms[place];
        ArmProgress {
            is_closed: tried.state.is_some() || tried.left_out.is_some(),
            runs: u32::try_from(tried.runs.len()).unwrap_or(u32::MAX),
            effect: self.effect(place),
            bisection: tried.arm.version.as_ref().map(|version| version.bisection),
        }
    }

    /// Versions that a finished trial did not need, because those on both sides of them behave alike.
    pub(super) fn close_bisections(&mut self) {
        for place in 0..self.arms.len() {
            if self.is_enclosed(place) {
                let why = "the versions on both sides of it behave alike".to_owned();
                self.arms[place].state = Some(ArmState::NotApplicable(why));
            }
        }
    }

    fn is_enclosed(&self, place: usize) -> bool {
        let group = |place: &usize| {
            let version = self.arms[*place].arm.version.as_ref();
            version.map(|version| version.bisection)
        };
        let own = group(&place);
        let helps = |place: usize| {
            let effect = self.effect(place).filter(|it| *it != Effect::Undecided);
            effect.map(|effect| effect != Effect::None)
        };
        let tried = self.arms[place].state.is_none() && self.arms[place].runs.is_empty();
        let of_group = |range: std::ops::Range<usize>| range.filter(|other| group(other) == own);
        let before = of_group(0..place).rev().find_map(helps);
        let after = of_group(place + 1..self.arms.len()).find_map(helps);
        own.is_some() && tried && before.is_some() && before == after
    }

    /// All of it, for every format.
    pub(super) fn into_report(
        self,
        command: String,
        directory: &Path,
        notes: Vec<String>,
    ) -> TrialReport {
        let summary = self.summary();
        let left_out = self.arms.iter().filter_map(|tried| {
            let why = tried.left_out.as_ref()?;
            Some(format!(
                "{}: a further run is left out: {why}",
                tried.arm.name
            ))
        });
        let notes = notes.into_iter().chain(left_out).collect();
        let arguments = std::env::args_os().skip(1);
        let arguments = arguments.map(|word| word.to_string_lossy().into_owned());
        let runs = |runs: Vec<EndedRun>| -> Vec<TrialRun> {
            let run = |ended: EndedRun| TrialRun {
                recording: ended.recording.display().to_string(),
                report: ended.report,
            };
            runs.into_iter().map(run).collect()
        };
        TrialReport {
            command,
            directory: directory.display().to_string(),
            resume: resume_command(arguments, directory),
            summary,
            control: runs(self.control),
            arms: self
                .arms
                .into_iter()
                .map(|tried| runs(tried.runs))
                .collect(),
            notes,
        }
    }

    pub(super) fn summary(&self) -> TrialSummary {
        let control = self.controls().next();
        let unit = control.map_or(XUnit::Step, |report| report.verdict.x_unit);
        let controls: Vec<&RunReport> = self.controls().collect();
        let stretch = self.axis.map(|axis| axis.common(&controls));
        let over = |stretch: Stretch| {
            let over = controls.iter();
            over.filter_map(|report| RunOver::of(&report.curves, unit, stretch))
                .collect()
        };
        TrialSummary {
            unit,
            control: control.map(|report| report.verdict.clone()),
            control_ended: self
                .control
                .first()
                .is_some_and(|run| matches!(run.ending, Ending::Exited(_))),
            control_runs: stretch.map_or_else(Vec::new, over),
            stretch,
            arms: (0..self.arms.len())
                .map(|place| self.arm_summary(place))
                .collect(),
            repeats: self.repeats,
            common_end: self.common_end(),
            control_memory: self.memory_of(&self.control),
        }
    }

    /// The furthest that every measured run has come.
    fn common_end(&self) -> Option<X> {
        let measured = (0..self.arms.len()).filter(|place| self.result(*place).is_some());
        let runs = measured.flat_map(|place| reports(&self.arms[place].runs));
        let runs: Vec<&RunReport> = self.controls().chain(runs).collect();
        self.axis.map(|axis| axis.common(&runs).to)
    }

    /// The mean of the runs there.
    fn memory_of(&self, runs: &[EndedRun]) -> Option<Amount> {
        let (axis, end) = (self.axis?, self.common_end()?);
        let memory = reports(runs).map(|report| axis.memory_at(report, end));
        let memory: Vec<f64> = memory.collect::<Option<_>>()?;
        let mean = memory.iter().sum::<f64>() / memory.len() as f64;
        (!memory.is_empty()).then_some(Amount(mean))
    }

    fn arm_summary(&self, place: usize) -> ArmSummary {
        let tried = &self.arms[place];
        let measured = || {
            let result = self.result(place)?;
            let runs = u32::try_from(tried.runs.len()).unwrap_or(u32::MAX);
            Some(ArmState::Measured { result, runs })
        };
        ArmSummary {
            name: tried.arm.name.clone(),
            built_in: tried.arm.built_in,
            by_hand: tried.arm.by_hand.clone(),
            version: tried.arm.version.as_ref().map(|version| TriedVersion {
                package: version.package.clone(),
                version: version.version.clone(),
            }),
            memory: self.memory_of(&tried.runs),
            state: tried
                .state
                .clone()
                .or_else(measured)
                .unwrap_or(ArmState::NotRun),
        }
    }
}

/// On a machine that is busy, samples come late, and a fast run may be over before it has enough.
const MOST_SPOILED: u32 = 2;

const ENDED_AT_LIMIT: &str =
    "the control run was ended at --limit; a higher one lets it go further";

const ENDED_AT_MAX_TIME: &str =
    "the control run was ended at --max-time; --resume with a longer one repeats it";

const NO_MEMORY: &str =
    "what leaks is no memory of the run as a whole, which is all that try compares";

fn reports(runs: &[EndedRun]) -> impl Iterator<Item = &RunReport> {
    runs.iter().filter_map(|run| run.report.as_ref())
}

/// How a run ended, for a sentence, with the last line of its output.
pub(super) fn ending_words(ending: Ending, log: &Path) -> String {
    let words = match ending {
        Ending::Exited(code) => format!("the command ended with code {code}"),
        Ending::Signalled(signal) => format!("the command was ended by signal {signal}"),
        Ending::TooSlow => {
            "it made too little progress beside the control run, and was ended".to_owned()
        }
        Ending::Limit => "the guard ended it at the limit".to_owned(),
        Ending::OutOfTime => "it was ended at --max-time".to_owned(),
        Ending::Enough | Ending::Interrupted => "it was ended".to_owned(),
    };
    match last_line(log).filter(|_| matches!(ending, Ending::Exited(_) | Ending::Signalled(_))) {
        Some(line) => format!("{words}: `{line}`; its output is in {}", log.display()),
        None => format!("{words}; its output is in {}", log.display()),
    }
}
