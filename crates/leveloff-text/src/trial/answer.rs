//! The answer of a trial: what stops the growth, what does not, what that rules out, and what to do next.

use std::collections::BTreeMap;

use leveloff_classifier::observation::XUnit;
use leveloff_classifier::trial::{
    ArmFamily, ArmResult, ArmState, ArmSummary, Change, Effect, TrialOutcome, TrialSummary,
};

use leveloff_classifier::verdict::Rate;

use super::{arm_words, common_words, excluded_by, speed_words};
use crate::rate::{MemoryRate, change_with_interval};
use crate::shell::shell;
use crate::verdict::Headline;

/// The answer of a trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// In one sentence, without its full stop.
    pub headline: String,
    /// The numbers behind it.
    pub numbers: Option<String>,
    /// What follows from it, a sentence each.
    pub follows: Vec<String>,
    /// The next step; `None` if there is none.
    pub next: Option<String>,
    /// The same as a command that can be run; `None` if there is none.
    pub next_command: Option<String>,
}

/// What a trial was of, for commands that can be run as they are.
#[derive(Debug, Clone, Copy)]
pub struct TrialJob<'a> {
    /// The command of the job, quoted for a shell.
    pub command: &'a str,
    /// Where the recordings are.
    pub directory: &'a str,
    /// What goes on with the trial.
    pub resume: &'a str,
}

/// The answer of a trial.
pub fn answer(trial: &TrialSummary, job: &TrialJob) -> Answer {
    match trial.outcome() {
        TrialOutcome::Stopped => cured(trial, job),
        TrialOutcome::Reduced => reduced(trial, job),
        TrialOutcome::NothingHelps => nothing_helps(trial, job),
        TrialOutcome::Undecided => undecided(trial, job),
        TrialOutcome::NothingToCure => plain(
            "nothing to cure: the control run is level".to_owned(),
            "judge says since when it is level, and which growth is ruled out",
            Some(format!(
                "leveloff judge {}",
                in_shell(job, "control-1.jsonl")
            )),
        ),
        TrialOutcome::ControlUndecided => plain(
            match &trial.control {
                Some(control) if control.verdict.is_alarm() => format!(
                    "undecided: the control run leaks, but its memory as a whole does not: {}",
                    Headline::of(control).whole()
                ),
                Some(control) => format!(
                    "undecided: the control run is not known to leak: {}",
                    Headline::of(control).whole()
                ),
                None => "undecided: the control run could not be judged".to_owned(),
            },
            match trial.unit {
                XUnit::Second => {
                    "no steps were counted: --step-regex names the lines that have them; judged over time, memory needs half an \
                     hour and more of --max-time"
                }
                _ => {
                    "let the command run for longer: more --max-time or --limit, or --level-by with the step by which memory must be level"
                }
            },
            None,
        ),
    }
}

fn plain(headline: String, next: &str, next_command: Option<String>) -> Answer {
    Answer {
        headline,
        numbers: None,
        follows: Vec::new(),
        next: Some(next.to_owned()),
        next_command,
    }
}

/// A file of the trial.
fn in_shell(job: &TrialJob, name: &str) -> String {
    shell(&[format!("{}/{name}", job.directory)])
}

fn cured(trial: &TrialSummary, job: &TrialJob) -> Answer {
    let mut cures: Vec<(&ArmSummary, &ArmResult)> = trial.with(Effect::Stops).collect();
    // The cure that costs least is the one to name first.
    let speed = |result: &ArmResult| result.speed.map_or(0.0, |speed| speed.value);
    cures.sort_by(|(_, a), (_, b)| speed(b).total_cmp(&speed(a)));
    let (first, result) = cures[0];
    let others: Vec<&str> = cures[1..].iter().map(|(arm, _)| title(arm)).collect();
    let others = match others.is_empty() {
        true => String::new(),
        false => format!("; also with {}", others.join(", ")),
    };
    let headline = format!("growth stops with {}{others}", title(first));
    let mut follows = turning_points(trial);
    follows.extend(common(&cures));
    let means = cures
        .iter()
        .filter_map(|(arm, _)| Some((arm, arm_words(arm.built_in?).means)));
    let mut said = Vec::new();
    for (arm, means) in means {
        if !said.contains(&means) {
            follows.push(format!("{}: {means}", arm.name));
            said.push(means);
        }
    }
    follows.extend(without_effect(trial));
    Answer {
        headline,
        numbers: Some(effect_in_numbers(trial, result)),
        follows,
        next: None,
        next_command: with_variables(first, job),
    }
}

/// A command of the user's own is too long for a headline, and has a name.
fn title(arm: &ArmSummary) -> &str {
    match arm.built_in {
        Some(_) => &arm.by_hand,
        None => &arm.name,
    }
}

/// The job with the change, where variables make it.
fn with_variables(arm: &ArmSummary, job: &TrialJob) -> Option<String> {
    let Change::Variables(variables) = arm.built_in?.change() else {
        return None;
    };
    let variables = variables
        .iter()
        .map(|(name, value)| format!("{name}={value} "));
    Some(variables.collect::<String>() + job.command)
}

/// Between which versions of a package the growth begins or ends.
fn turning_points(trial: &TrialSummary) -> Vec<String> {
    let points = trial.turning_points().into_iter();
    points
        .map(|(before, after)| {
            let between = trial.unknown_between(before, after);
            let unknown = match between.is_empty() {
                true => String::new(),
                false => format!("; not known of {}", between.join(", ")),
            };
            format!(
                "with {}, the growth changes between {} and {}{unknown}",
                before.package, before.version, after.version
            )
        })
        .collect()
}

/// What cures of one family have in common. Cures of several families may be several causes, or one that each of them
/// touches.
fn common(cures: &[(&ArmSummary, &ArmResult)]) -> Option<String> {
    let mut families: BTreeMap<ArmFamily, usize> = BTreeMap::new();
    for (arm, _) in cures {
        if let Some(built_in) = arm.built_in {
            *families.entry(built_in.family()).or_default() += 1;
        }
    }
    match families.len() {
        1 => {
            let (family, _) = families.first_key_value().filter(|(_, arms)| **arms > 1)?;
            Some(format!(
                "they have in common: {}",
                common_words(*family)
            ))
        }
        0 => None,
        _ => Some(
            "the changes that help are of different kinds: each of them alone suffices, so they remove a link of one chain"
                .to_owned(),
        ),
    }
}

fn reduced(trial: &TrialSummary, job: &TrialJob) -> Answer {
    let reduced: Vec<(&ArmSummary, &ArmResult)> = trial.with(Effect::Reduces).collect();
    let names: Vec<&str> = reduced.iter().map(|(arm, _)| title(arm)).collect();
    let mut follows = vec![
        "a part of the growth has this cause; the rest has another, or the change removes the cause in part".to_owned(),
    ];
    follows.extend(without_effect(trial));
    Answer {
        headline: format!(
            "no change stops the growth; less of it with {}",
            names.join(", ")
        ),
        numbers: reduced
            .first()
            .map(|(_, result)| effect_in_numbers(trial, result)),
        follows,
        next: Some(LINE.to_owned()),
        next_command: Some(blame(job)),
    }
}

fn nothing_helps(trial: &TrialSummary, job: &TrialJob) -> Answer {
    let measured: Vec<_> = trial.with(Effect::None).collect();
    let rate = measured.first().map_or_else(String::new, |(_, result)| {
        let rate = MemoryRate::new(result.control, trial.unit);
        format!(": {} in the control run", rate.alone())
    });
    let of = match measured.len() {
        1 => "the one change that was measured does not stop the growth".to_owned(),
        n => format!("none of the {n} changes that were measured stops the growth"),
    };
    Answer {
        headline: format!("{of}{rate}"),
        numbers: None,
        follows: without_effect(trial)
            .into_iter()
            .chain(not_measured(trial))
            .collect(),
        next: Some(LINE.to_owned()),
        next_command: Some(blame(job)),
    }
}

const LINE: &str = "run --blame names the line that allocates the memory that is not freed";

fn blame(job: &TrialJob) -> String {
    let recording = in_shell(job, "blame.jsonl");
    format!(
        "leveloff run --blame -o {recording} -- {}; leveloff blame {recording}",
        job.command
    )
}

fn undecided(trial: &TrialSummary, job: &TrialJob) -> Answer {
    let open: Vec<&str> = trial
        .arms
        .iter()
        .filter(|arm| is_open(trial, arm))
        .map(|arm| arm.name.as_str())
        .collect();
    let headline = match open.is_empty() {
        true => "undecided: no change could be measured".to_owned(),
        false => format!("undecided: {}", open.join(", ")),
    };
    let goes_on = trial.arms.iter().any(|arm| trial.has_runs_left(arm));
    let (next, next_command) = match goes_on {
        true => (
            "--resume goes on with them; a longer --max-time decides more, and so does a new trial with more --steps",
            Some(job.resume.to_owned()),
        ),
        false => (
            "a new trial with more --steps or --repeats decides more; what failed has its reason in its .log file",
            None,
        ),
    };
    Answer {
        headline,
        numbers: None,
        follows: without_effect(trial)
            .into_iter()
            .chain(not_measured(trial))
            .collect(),
        next: Some(next.to_owned()),
        next_command,
    }
}

/// What could not be measured may still be the cure.
fn not_measured(trial: &TrialSummary) -> Option<String> {
    let failed = |arm: &&ArmSummary| matches!(arm.state, ArmState::Failed(_));
    let names: Vec<&str> = trial
        .arms
        .iter()
        .filter(failed)
        .map(|arm| arm.name.as_str())
        .collect();
    (!names.is_empty()).then(|| format!("not measured, and so not excluded: {}", names.join(", ")))
}

fn is_open(trial: &TrialSummary, arm: &ArmSummary) -> bool {
    match &arm.state {
        ArmState::NotRun => true,
        ArmState::Measured { result, .. } => {
            result.effect == Effect::Undecided || trial.is_unconfirmed(arm)
        }
        ArmState::Failed(_) | ArmState::NotApplicable(_) => false,
    }
}

/// `+1.90 MiB per step (+1.80 … +2.00) before, 0.0 KiB (-42.1 … +42.1) with it; 12 % slower (8 … 16)`
fn effect_in_numbers(trial: &TrialSummary, result: &ArmResult) -> String {
    let rate = |rate: Rate| change_with_interval(rate.value.0, rate.low.0, rate.high.0);
    let speed = result
        .speed
        .map_or_else(String::new, |speed| format!("; {}", speed_words(speed)));
    let unit = trial.unit.name();
    format!(
        "growth per {unit}: {} before, {} with it{speed}",
        rate(result.control),
        rate(result.growth)
    )
}

/// Which changes do nothing, and what is excluded by that: a kind of cause only if each of its changes that was to be tried was
/// measured and does nothing.
fn without_effect(trial: &TrialSummary) -> Option<String> {
    let names: Vec<&str> = trial
        .with(Effect::None)
        .map(|(arm, _)| arm.name.as_str())
        .collect();
    if names.is_empty() {
        return None;
    }
    let mut kinds: BTreeMap<&str, bool> = BTreeMap::new();
    for arm in &trial.arms {
        let does_nothing = match &arm.state {
            ArmState::NotApplicable(_) => continue,
            ArmState::Measured { result, .. } => result.effect == Effect::None,
            ArmState::Failed(_) | ArmState::NotRun => false,
        };
        if let Some(built_in) = arm.built_in {
            *kinds.entry(excluded_by(built_in)).or_insert(true) &= does_nothing;
        }
    }
    let excluded: Vec<&str> = kinds
        .into_iter()
        .filter_map(|(kind, is_excluded)| is_excluded.then_some(kind))
        .collect();
    let against = match excluded.is_empty() {
        true => String::new(),
        false => format!(", which speaks against {}", excluded.join("; ")),
    };
    Some(format!("no effect: {}{against}", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use leveloff_classifier::observation::Observation;
    use leveloff_classifier::run::RunJudge;
    use leveloff_classifier::trial::{BuiltInArm, Stretch, TriedVersion};
    use leveloff_classifier::units::{Amount, AmountPerX, X};
    use leveloff_classifier::verdict::RunVerdict;
    use leveloff_model::recording::StatedFacts;
    use leveloff_model::units::{Bytes, Step};

    use super::*;

    const JOB: TrialJob = TrialJob {
        command: "python train.py",
        directory: "/tmp/trial",
        resume: "leveloff try --resume -o /tmp/trial -- python train.py",
    };

    fn leak() -> RunVerdict {
        let mut judge = RunJudge::new(XUnit::Step, &StatedFacts::default());
        for step in 1..=900 {
            let memory = Bytes(8_000_000_000 + 2_000_000 * step);
            judge.observe(&Observation::at_step(Step(step), memory));
        }
        judge.verdict()
    }

    fn rate(value: f64) -> Rate {
        Rate {
            value: AmountPerX(value),
            low: AmountPerX(value - 1000.0),
            high: AmountPerX(value + 1000.0),
        }
    }

    fn measured(effect: Effect) -> ArmState {
        let left = match effect {
            Effect::Stops => 0.0,
            _ => 2e6,
        };
        ArmState::Measured {
            result: ArmResult {
                effect,
                growth: rate(left),
                control: rate(2e6),
                change: rate(left - 2e6),
                level: Amount(9e9),
                control_level: Amount(9e9),
                speed: None,
                steps_per_second: None,
                control_steps_per_second: None,
            },
            runs: 2,
        }
    }

    fn arm(name: &str, built_in: Option<BuiltInArm>, effect: Effect) -> ArmSummary {
        ArmSummary {
            name: name.to_owned(),
            built_in,
            by_hand: name.to_owned(),
            version: None,
            memory: None,
            state: measured(effect),
        }
    }

    fn version(version: &str, effect: Effect) -> ArmSummary {
        ArmSummary {
            version: Some(TriedVersion {
                package: "torch".to_owned(),
                version: version.to_owned(),
            }),
            ..arm(&format!("torch=={version}"), None, effect)
        }
    }

    fn answer_of(arms: Vec<ArmSummary>) -> Answer {
        let trial = TrialSummary {
            unit: XUnit::Step,
            control: Some(leak()),
            control_ended: false,
            control_runs: Vec::new(),
            stretch: Some(Stretch {
                from: X(450.0),
                to: X(900.0),
            }),
            arms,
            repeats: 2,
            common_end: None,
            control_memory: None,
        };
        answer(&trial, &JOB)
    }

    #[test]
    fn two_cures_of_one_kind_have_it_in_common() {
        let answer = answer_of(vec![
            arm("one-arena", Some(BuiltInArm::OneArena), Effect::Stops),
            arm("mine", None, Effect::Stops),
            arm("jemalloc", Some(BuiltInArm::Jemalloc), Effect::Stops),
        ]);
        assert_eq!(
            answer.headline,
            "growth stops with one-arena; also with mine, jemalloc"
        );
        let common = "they have in common: the program frees the memory, and malloc keeps it";
        assert!(answer.follows.iter().any(|it| it == common), "{answer:?}");
        let next = "MALLOC_ARENA_MAX=1 python train.py";
        assert_eq!(answer.next_command.as_deref(), Some(next));
    }

    #[test]
    fn cures_of_two_kinds_are_links_of_one_chain() {
        let answer = answer_of(vec![
            arm("one-arena", Some(BuiltInArm::OneArena), Effect::Stops),
            arm("no-workers", Some(BuiltInArm::NoWorkers), Effect::Stops),
        ]);
        assert!(
            answer
                .follows
                .iter()
                .any(|it| it.contains("different kinds")),
            "{answer:?}"
        );
    }

    #[test]
    fn no_cure_says_what_is_excluded_and_what_names_the_line() {
        let answer = answer_of(vec![
            arm("one-arena", Some(BuiltInArm::OneArena), Effect::None),
            arm(
                "collect-garbage",
                Some(BuiltInArm::CollectGarbage),
                Effect::None,
            ),
        ]);
        let excluded = "no effect: one-arena, collect-garbage, which speaks against an allocator that keeps freed memory; \
                        reference cycles";
        assert_eq!(answer.follows, [excluded]);
        let headline = "none of the 2 changes that were measured stops the growth: 1.91 MiB per step in the control run";
        assert_eq!(answer.headline, headline);
        let next = answer.next_command.unwrap();
        assert!(
            next.starts_with("leveloff run --blame -o /tmp/trial/blame.jsonl -- python train.py;"),
            "{next}"
        );
    }

    #[test]
    fn what_was_not_measured_is_named_and_excludes_nothing() {
        let failed = ArmSummary {
            state: ArmState::Failed("it hung".to_owned()),
            ..arm("jemalloc", Some(BuiltInArm::Jemalloc), Effect::None)
        };
        let one_arena = arm("one-arena", Some(BuiltInArm::OneArena), Effect::None);
        let answer = answer_of(vec![one_arena, failed.clone()]);
        assert!(
            answer
                .headline
                .starts_with("the one change that was measured does not stop")
        );
        let follows = [
            "no effect: one-arena",
            "not measured, and so not excluded: jemalloc",
        ];
        assert_eq!(answer.follows, follows);
        let nothing = answer_of(vec![failed]);
        assert_eq!(nothing.headline, "undecided: no change could be measured");
        assert_eq!(nothing.next_command, None, "--resume would do nothing");
    }

    #[test]
    fn what_stays_undecided_after_all_its_runs_is_not_resumed() {
        let undecided = |runs| {
            let mut arm = arm("one-arena", Some(BuiltInArm::OneArena), Effect::Undecided);
            if let ArmState::Measured { runs: made, .. } = &mut arm.state {
                *made = runs;
            }
            answer_of(vec![arm]).next_command
        };
        assert_eq!(undecided(3).as_deref(), Some(JOB.resume));
        assert_eq!(undecided(4), None);
    }

    #[test]
    fn versions_between_which_others_are_not_known_are_no_neighbours() {
        let answer = answer_of(vec![
            version("2.5", Effect::None),
            version("2.6", Effect::Undecided),
            version("2.7", Effect::Stops),
        ]);
        let named = "with torch, the growth changes between 2.5 and 2.7; not known of 2.6";
        assert_eq!(answer.follows[0], named);
    }

    #[test]
    fn versions_have_a_turning_point() {
        let answer = answer_of(vec![
            version("2.6", Effect::Stops),
            version("2.7", Effect::None),
            version("2.8", Effect::None),
        ]);
        assert_eq!(
            answer.follows[0],
            "with torch, the growth changes between 2.6 and 2.7"
        );
    }
}
