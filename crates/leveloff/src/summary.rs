//! What a run did to memory, in a few lines at its end. The numbers are those of its account.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fmt::Write as _;

use leveloff_classifier::observation::{Moment, XUnit};
use leveloff_classifier::run_analysis::{GroupAccount, ProcessAccount, RunAccount};
use leveloff_classifier::units::X;
use leveloff_model::process::ProcessInfo;
use leveloff_model::progress::Progress;
use leveloff_model::sample::{Event, OwnCost, Tick};
use leveloff_model::units::{Bytes, Seconds};
use leveloff_text::steps;
use leveloff_text::x_position::XPosition;

/// How many processes are listed that grew most, after watching the whole machine.
pub(crate) const TOP_GROWERS: usize = 10;

/// What the account does not hold: how far the run came, what could not be measured, what watching cost.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    /// How far the run came, the samples after its end included.
    reached: Option<(Seconds, String)>,
    /// What its steps count.
    unit: XUnit,
    /// What could not be measured; the recording has the reasons.
    gaps: BTreeSet<&'static str>,
    cost: OwnCost,
    ticks: u64,
}

impl Summary {
    pub(crate) fn take(&mut self, tick: &Tick) {
        for event in &tick.events {
            if let Event::Gap(gap) = event {
                self.gaps.insert(gap.subject.name());
            }
        }
        self.reached = Some((tick.sample.t, how_far(&tick.sample.progress)));
        self.unit = tick.sample.progress.unit.map_or(self.unit, XUnit::from);
        self.cost = tick.sample.cost;
        self.ticks += 1;
    }

    /// The lines for people, without the recording's name. `ended` begins the first.
    pub(crate) fn lines(&self, ended: &str, account: Option<&RunAccount>) -> Vec<String> {
        let (Some(account), Some((t, how_far))) = (account, &self.reached) else {
            return vec![format!("{ended}; no sample was taken before")];
        };
        vec![
            first_line(ended, &format!("after {t}{how_far}")),
            memory_line(account, self.unit),
            growth_line(account),
            self.cost_line(Some(account)),
        ]
    }

    /// What watching cost.
    pub(crate) fn cost_line(&self, account: Option<&RunAccount>) -> String {
        let t = self.reached.as_ref().map_or(Seconds(0.0), |(t, _)| *t);
        let share = self.cost.cpu.0 as f64 / 10.0 / t.0.max(1.0);
        let samples = match account.map_or(self.ticks, |account| account.samples) {
            1 => "1 sample".to_owned(),
            samples => format!("{samples} samples"),
        };
        let mut line = format!(
            "cost {share:.2} % of one core, {} memory · {samples}",
            self.cost.rss
        );
        if !self.gaps.is_empty() {
            let gaps: Vec<&str> = self.gaps.iter().copied().collect();
            let _ = write!(
                line,
                " · not all was measured ({}): see the recording",
                gaps.join(", ")
            );
        }
        line
    }
}

/// The processes that grew most, for a watch over the whole machine.
pub(crate) fn top_growers(account: &RunAccount, count: usize) -> Vec<String> {
    let mut grown: Vec<&ProcessAccount> = account
        .alive()
        .filter(|process| process.growth().0 > 0)
        .collect();
    grown.sort_by_key(|process| (Reverse(process.growth().0), process.index));
    let line = |process: &ProcessAccount| {
        let command = process
            .info
            .as_ref()
            .map_or_else(String::new, shown_command);
        format!(
            "{:>10} now {:>9}  {:>7}  {command}",
            process.growth().to_string(),
            process.memory.now.to_string(),
            process.pid
        )
    };
    grown.into_iter().take(count).map(line).collect()
}

/// Whether a sum of RSS is so much more than the memory that it must be said.
pub(crate) fn rss_misleads(rss: Bytes, memory: Bytes) -> bool {
    rss.0 > memory.0.saturating_mul(3) / 2
}

/// `stopped; the run goes on` becomes `stopped after 5 s; the run goes on`.
fn first_line(ended: &str, when: &str) -> String {
    match ended.split_once("; ") {
        Some((what, and)) => format!("{what} {when}; {and}"),
        None => format!("{ended} {when}"),
    }
}

/// ` · step 300 · steps: output 'iter'`
fn how_far(progress: &Progress) -> String {
    let source = steps::source_words(progress).map(|source| format!("steps: {source}"));
    let facts = [steps::position(progress), source];
    let facts = facts.into_iter().flatten();
    facts.map(|fact| format!(" · {fact}")).collect()
}

fn memory_line(account: &RunAccount, unit: XUnit) -> String {
    let at = |moment: Moment| match (moment.count, moment.t) {
        (Some(count), _) => XPosition::new(X(count), unit).to_string(),
        (None, Some(t)) => t.to_string(),
        (None, None) => "the start".to_owned(),
    };
    let memory = &account.memory;
    let mut line = format!(
        "memory {} at {} → {} at {}, peak {} at {}",
        memory.base,
        at(account.since.moment),
        memory.now,
        at(account.now),
        memory.peak,
        at(account.peak_at)
    );
    if let Some(rss) = account.rss.filter(|rss| rss_misleads(*rss, memory.now)) {
        let _ = write!(line, " (a sum of RSS would say {rss})");
    }
    if account.estimated() > 0 {
        let estimated = account.estimated();
        let processes = if estimated == 1 {
            "process"
        } else {
            "processes"
        };
        let _ = write!(line, "; {estimated} {processes} estimated");
    }
    line
}

fn growth_line(account: &RunAccount) -> String {
    let part = |group: &GroupAccount| {
        let rank = group
            .rank
            .map_or_else(String::new, |rank| format!(" {rank}"));
        let count = match group.processes {
            0 | 1 => String::new(),
            many => format!(" ×{many}"),
        };
        let (growth, now) = (group.memory.growth(), group.memory.now);
        format!("{}{rank}{count} {growth} to {now}", group.role)
    };
    let alive = account.groups.iter().filter(|group| group.processes > 0);
    let parts: Vec<String> = alive.map(part).collect();
    format!("growth {}", parts.join(" · "))
}

/// A command line for one line of a terminal.
pub(crate) fn shown_command(info: &ProcessInfo) -> String {
    let text = if info.command.is_empty() {
        info.comm.clone()
    } else {
        info.command.join(" ")
    };
    match text.char_indices().nth(100) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use leveloff_classifier::observation::{Observation, ProcessShare};
    use leveloff_classifier::run_analysis::RunAnalysis;
    use leveloff_model::process::{Pid, ProcessIndex, Role};

    use super::*;

    /// The memory and the growth line of a trainer that had these totals, in MiB, one each second.
    fn lines(totals: &[u64], is_over: bool) -> [String; 2] {
        let mut run = RunAnalysis::default();
        for (t, total) in totals.iter().enumerate() {
            let memory = Bytes(total << 20);
            let trainer = ProcessShare::with_memory(ProcessIndex(0), Pid(1), Role::Trainer, memory);
            run.observe(&Observation {
                t: Some(Seconds(t as f64)),
                memory,
                rss_sum: Some(memory),
                processes: vec![trainer],
                ..Observation::default()
            });
        }
        if is_over {
            run.end();
        }
        let account = run.account().unwrap();
        [memory_line(&account, XUnit::Step), growth_line(&account)]
    }

    #[test]
    fn a_run_that_is_over_is_reported_as_it_was_before_it_shut_down() {
        let [memory, growth] = lines(&[100, 200, 300, 120, 120, 4], true);
        let expected = "memory 100 MiB at 0 s → 300 MiB at 2 s, peak 300 MiB at 2 s";
        assert_eq!(memory, expected);
        assert_eq!(growth, "growth trainer +200 MiB to 300 MiB");
    }

    #[test]
    fn a_moment_is_named_by_what_the_training_counts() {
        let mut run = RunAnalysis::default();
        for epoch in 0..3_u32 {
            run.observe(&Observation {
                t: Some(Seconds(f64::from(epoch))),
                count: Some(f64::from(epoch)),
                memory: Bytes(1 << 20),
                ..Observation::default()
            });
        }
        let account = run.account().unwrap();
        let line = memory_line(&account, XUnit::Epoch);
        assert!(line.contains("at epoch 0 → 1.0 MiB at epoch 2"), "{line}");
    }

    #[test]
    fn a_run_that_goes_on_is_reported_as_it_is() {
        let [memory, growth] = lines(&[100, 200, 300, 120, 4], false);
        assert!(
            memory.contains("→ 4.0 MiB at 4 s, peak 300 MiB"),
            "{memory}"
        );
        assert_eq!(growth, "growth trainer -96 MiB to 4.0 MiB");
    }

    #[test]
    fn a_fall_that_was_made_up_for_is_no_end() {
        let [memory, _] = lines(&[100, 300, 200, 300, 296, 298], true);
        assert!(memory.contains("→ 298 MiB at 5 s"), "{memory}");
    }
}
