//! What is said while a run goes on, one line each.

use leveloff_classifier::observation::XUnit;
use leveloff_classifier::run_analysis::RunAccount;
use leveloff_classifier::verdict::{RunVerdict, Verdict, WillFinish};
use leveloff_model::process::{Pid, Rank, Role};
use leveloff_model::progress::Progress;
use leveloff_model::units::Bytes;

use crate::since::since_words;
use crate::steps;
use crate::verdict::{blame_words, finishing_words, growth, line, risk_words, verdict_words};
use crate::x_position::XPosition;

/// Something about a run that changed.
#[derive(Debug, Clone, PartialEq)]
pub enum Change<'a> {
    /// There is another verdict.
    Verdict(&'a RunVerdict),
    /// Growth meets the limit if it goes on, and no verdict says whether it does.
    Risk(&'a RunVerdict),
    /// The run is no longer going to meet the limit before its planned end.
    Finishes(&'a RunVerdict),
    /// Memory comes near the limit.
    NearLimit {
        /// What the run holds.
        memory: Bytes,
        /// What it may hold.
        limit: Bytes,
    },
    /// A process exited, and others of its kind go on.
    Exited(ExitedAlone),
}

/// A process that exited, while others of its kind go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExitedAlone {
    /// What it was.
    pub role: Role,
    /// Its number.
    pub pid: Pid,
    /// The rank that it was or belonged to.
    pub rank: Option<Rank>,
    /// How many of the same role go on.
    pub others: usize,
}

/// The line for a change, where the training has come to `progress`.
pub fn words(change: &Change<'_>, progress: &Progress) -> String {
    let text = match change {
        Change::Verdict(run) => verdict(run),
        Change::Risk(run) => risk(run),
        Change::Finishes(run) => finishing_words(run).unwrap_or_default(),
        Change::NearLimit { memory, limit } => {
            let percent = 100.0 * memory.0 as f64 / limit.0.max(1) as f64;
            format!("memory {memory} is {percent:.0} % of the limit of {limit}")
        }
        Change::Exited(exited) => exit(exited),
    };
    match steps::position(progress) {
        Some(position) => format!("{position}: {text}"),
        None => text,
    }
}

/// The numbers of a moment, for logs: `14:03:05  step 120  4.2 GiB  +1.2 GiB  4 workers  WARMING UP`.
pub fn monitor_line(time: &str, account: &RunAccount, progress: &Progress) -> String {
    let workers = account
        .role(Role::DataloaderWorker)
        .map(|group| group.processes)
        .sum();
    let workers = match workers {
        0 => None,
        1 => Some("1 worker".to_owned()),
        n => Some(format!("{n} workers")),
    };
    let growth = format!("{} since {}", account.memory.growth(), since_words(account));
    let verdict = account
        .verdict
        .as_ref()
        .map(|run| verdict_words(run.verdict));
    let parts = [
        Some(time.to_owned()),
        steps::position(progress),
        Some(account.memory.now.to_string()),
        Some(growth),
        workers,
        verdict.map(str::to_owned),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    parts.join("  ")
}

fn verdict(run: &RunVerdict) -> String {
    let who = run.blame.first().filter(|_| is_leak(run));
    let who = who.map(|blame| format!(" · {}", blame_words(blame)));
    let outlook = match run.will_finish {
        WillFinish::No(_) => finishing_words(run).map(|words| format!(" · {words}")),
        _ => None,
    };
    [Some(line(run)), who, outlook]
        .into_iter()
        .flatten()
        .collect()
}

fn is_leak(run: &RunVerdict) -> bool {
    matches!(run.verdict, Verdict::Leak(_))
}

fn risk(run: &RunVerdict) -> String {
    let growth = growth(run).unwrap_or_else(|| "growing".to_owned());
    let meets = match (finishing_words(run), &run.risk) {
        (Some(words), _) if matches!(run.will_finish, WillFinish::No(_)) => words,
        (_, Some(risk)) => risk_words(risk, run),
        _ => return growth,
    };
    let open = match (run.verdict, run.judgement.decide_by) {
        (Verdict::WarmingUp, Some(by)) if run.x_unit != XUnit::Second => {
            let place = XPosition::new(by.if_it_goes_on, run.x_unit);
            format!("; may still level off, a leak from {place} on if it does not")
        }
        (Verdict::WarmingUp | Verdict::Undecided, _) => "; may still level off".to_owned(),
        _ => String::new(),
    };
    format!("{growth}; {meets}{open}")
}

/// `loader worker (rank 1, pid 19680) exited; 3 others go on`
fn exit(exited: &ExitedAlone) -> String {
    let rank = exited
        .rank
        .map_or_else(String::new, |rank| format!("rank {}, ", rank.0));
    let (role, pid) = (exited.role.name(), exited.pid.0);
    let others = match exited.others {
        1 => "1 other goes on".to_owned(),
        n => format!("{n} others go on"),
    };
    format!("{role} ({rank}pid {pid}) exited; {others}")
}

#[cfg(test)]
mod tests {
    use leveloff_classifier::units::X;
    use leveloff_classifier::verdict::MetLimit;
    use leveloff_model::units::{Seconds, Step};

    use super::*;
    use crate::cases::{leak, story_at_80};

    fn at_step(step: u64) -> Progress {
        Progress {
            step: Some(Step(step)),
            ..Progress::default()
        }
    }

    #[test]
    fn a_risk_has_the_rate_the_limit_and_when_it_is_decided() {
        let run = story_at_80();
        insta::assert_snapshot!(words(&Change::Risk(&run), &at_step(80)), @"step 80: 165 MiB per step; if it goes on, 32.0 GiB (stated limit) is reached at step 168 (163 … 173), in about 13 min; may still level off, a leak from step 379 on if it does not");
        let planned = RunVerdict {
            will_finish: WillFinish::No(MetLimit {
                planned: X(663.0),
                at: X(170.0),
                earliest: Some(X(159.0)),
                latest: Some(X(185.0)),
                in_time: Some(Seconds(840.0)),
                limit: Bytes(32 << 30),
            }),
            ..story_at_80()
        };
        insta::assert_snapshot!(words(&Change::Risk(&planned), &at_step(80)), @"step 80: 165 MiB per step; will be killed at step 170 of 663 (159–185), in about 14 min, if it continues; may still level off, a leak from step 379 on if it does not");
    }

    #[test]
    fn a_leak_has_its_culprit() {
        insta::assert_snapshot!(words(&Change::Verdict(&leak()), &at_step(900)), @"step 900: LEAK (confirmed) since step 1 · 2.06 MiB per step (2.03 … 2.09) · trainer (pid 22180): 98 %, +1.8 GiB of anonymous memory");
    }

    #[test]
    fn an_exit_names_the_process_and_those_that_go_on() {
        let exited = ExitedAlone {
            role: Role::DataloaderWorker,
            pid: Pid(19680),
            rank: None,
            others: 3,
        };
        insta::assert_snapshot!(words(&Change::Exited(exited), &Progress::default()), @"dataloader-worker (pid 19680) exited; 3 others go on");
    }

    #[test]
    fn a_limit_that_comes_near_has_both_amounts() {
        let near = Change::NearLimit {
            memory: Bytes(29 << 30),
            limit: Bytes(32 << 30),
        };
        insta::assert_snapshot!(words(&near, &at_step(7)), @"step 7: memory 29.0 GiB is 91 % of the limit of 32.0 GiB");
    }
}
