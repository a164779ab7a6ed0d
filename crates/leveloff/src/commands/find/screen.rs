//! The runs as text: each trainer with its workers by role, and why it was picked.

use leveloff_model::process::{Pid, Role, printable};
use leveloff_model::units::Bytes;
use leveloff_sampler::find::{Found, Member, Run};

use crate::run_target::hidden_processes;

/// The listing. Lines are cut to `width`; `None` cuts nothing.
pub(super) fn runs(found: &Found, width: Option<usize>) -> String {
    let mut lines = Vec::new();
    if found.runs.len() > 1 {
        lines.push(format!(
            "{} runs; choose one with --pid PID",
            found.runs.len()
        ));
    }
    for run in &found.runs {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        add_run(run, width, &mut lines);
    }
    if let Some(limits) = hidden_processes(found).filter(|_| !found.runs.is_empty()) {
        lines.push(limits);
    }
    lines.into_iter().map(|line| line + "\n").collect()
}

fn add_run(run: &Run, width: Option<usize>, lines: &mut Vec<String>) {
    let mut add = |line: String| lines.push(cut(line, width));
    add(columns(
        "PID",
        "ROLE",
        "MEMORY",
        "RSS SUM",
        &format!("{:>10}  COMMAND", "AGE"),
    ));
    for launcher in run
        .members
        .iter()
        .filter(|member| member.assignment.role == Role::Launcher)
    {
        add(process_row(launcher, width));
    }
    for trainer in run.trainers() {
        add(process_row(trainer, width));
        for row in worker_rows(run, Some(trainer.facts.pid())) {
            add(row);
        }
    }
    for row in worker_rows(run, None) {
        add(row);
    }
    if run.members.len() > 1 {
        let all: Vec<&Member> = run.members.iter().collect();
        add(row(
            "",
            &format!("all {}", all.len()),
            &all,
            &over_count(&all),
        ));
    }
    if run.members.iter().any(|member| member.memory.is_estimate) {
        add(
            "~ counts shared pages in full; --exact reads them, which pauses a large process"
                .to_owned(),
        );
    }
    // The evidence is the point of the listing, so it is broken into lines and never cut.
    let picked = run
        .trainers()
        .first()
        .map_or(run.root, |trainer| trainer.facts.pid());
    lines.extend(wrapped(&format!("picked {picked}: {}", run.why), width));
}

fn process_row(member: &Member, width: Option<usize>) -> String {
    let facts = &member.facts;
    let role = match member.assignment.rank {
        Some(rank) => format!("{} (rank {rank})", member.assignment.role),
        None => member.assignment.role.to_string(),
    };
    let age = facts.age.map_or(String::new(), |age| age.to_string());
    let command = match facts.command.is_empty() {
        true => format!("[{}]", printable(&facts.comm)),
        false => command(&facts.command, width.is_some()),
    };
    let last = format!("{age:>10}  {command}");
    row(&facts.pid().to_string(), &role, &[member], &last)
}

/// The command in one line. On a terminal, where it will be cut, only the part that distinguishes runs.
fn command(arguments: &[Vec<u8>], brief: bool) -> String {
    let words = arguments.iter().map(|argument| printable(argument));
    if brief {
        brief_command(words.collect())
    } else {
        words.collect::<Vec<_>>().join(" ")
    }
}

/// Without the directory of the program, and for Python without the interpreter and its flags:
/// `/opt/venv/bin/python -u /home/me/train.py --lr 1` is `train.py --lr 1`.
fn brief_command(mut words: Vec<String>) -> String {
    let base = |word: &str| word.rsplit('/').next().unwrap_or_default().to_owned();
    if words
        .first()
        .is_some_and(|word| base(word).starts_with("python"))
    {
        let says_what = |word: &String| !word.starts_with('-') || word == "-m" || word == "-c";
        if let Some(what) = words.iter().skip(1).position(says_what) {
            words.drain(..=what);
        }
    }
    if let Some(first) = words.first_mut().filter(|word| word.starts_with('/')) {
        *first = base(first);
    }
    words.join(" ")
}

/// The others that belong to a trainer, or to none, by role.
fn worker_rows(run: &Run, trainer: Option<Pid>) -> Vec<String> {
    let is_listed_alone = |role| matches!(role, Role::Trainer | Role::Launcher);
    let mut rows = Vec::new();
    for role in Role::ALL.into_iter().filter(|&role| !is_listed_alone(role)) {
        let belongs =
            |member: &&Member| member.assignment.role == role && member.trainer == trainer;
        let members: Vec<&Member> = run.members.iter().filter(belongs).collect();
        match members[..] {
            [] => {}
            [one] => rows.push(row("", &format!(" {role}"), &[one], "")),
            _ => {
                let name = format!(" {role} ×{}", members.len());
                rows.push(row("", &name, &members, &over_count(&members)));
            }
        }
    }
    rows
}

fn row(pid: &str, role: &str, members: &[&Member], last: &str) -> String {
    let memory: Bytes = members
        .iter()
        .filter_map(|member| member.memory.memory)
        .sum();
    let rss: Bytes = members.iter().filter_map(|member| member.memory.rss).sum();
    let is_estimate = members.iter().any(|member| member.memory.is_estimate);
    let mark = if is_estimate { "~" } else { "" };
    columns(
        pid,
        role,
        &format!("{mark}{memory}"),
        &rss.to_string(),
        last,
    )
}

/// Wide enough for `dataloader-worker ×99`, and narrow enough to leave 80 columns room for a command.
fn columns(pid: &str, role: &str, memory: &str, rss: &str, last: &str) -> String {
    let line = format!("{pid:>7}  {role:<23}{memory:>9}{rss:>9}  {last}");
    line.trim_end().to_owned()
}

/// How many times over a sum of RSS counts these processes' pages, when that is worth saying.
fn over_count(members: &[&Member]) -> String {
    let rss: Bytes = members.iter().filter_map(|member| member.memory.rss).sum();
    let pss: Option<Vec<Bytes>> = members.iter().map(|member| member.memory.pss).collect();
    let pss: Bytes = pss.unwrap_or_default().into_iter().sum();
    let times = if pss.0 == 0 {
        0.0
    } else {
        rss.0 as f64 / pss.0 as f64
    };
    if times < WORTH_SAYING {
        return String::new();
    }
    format!("RSS counts it {times:.0} times over")
}

/// Below this the over-count would round to nothing.
const WORTH_SAYING: f64 = 1.5;

fn cut(line: String, width: Option<usize>) -> String {
    match width {
        Some(width) if line.chars().count() > width => line
            .chars()
            .take(width.saturating_sub(1))
            .chain(['…'])
            .collect(),
        _ => line,
    }
}

fn wrapped(text: &str, width: Option<usize>) -> Vec<String> {
    let Some(width) = width else {
        return vec![text.to_owned()];
    };
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                *line += " ";
                *line += word;
            }
            Some(_) => lines.push(format!("  {word}")),
            None => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::super::tests::saved;
    use super::*;
    use crate::run_target::no_run_found;

    #[test]
    fn workers_are_grouped_below_their_trainer() {
        let text = runs(&saved("compile"), None);
        let lines: Vec<&str> = text.lines().collect();
        assert!(
            lines[1].contains("trainer") && lines[1].contains("train.py"),
            "{text}"
        );
        assert!(lines[2].contains(" compile-pool"), "{text}");
        assert!(
            lines[3].contains("compile-worker ×4") && lines[3].contains("times over"),
            "{text}"
        );
        assert!(lines[4].contains("all 6"), "{text}");
        assert!(
            lines[5].starts_with("picked ") && lines[5].contains("owns the compile pool"),
            "{text}"
        );
        assert_eq!(lines.len(), 6, "{text}");
    }

    #[test]
    fn ranks_are_named_and_their_launcher_comes_first() {
        let text = runs(&saved("torchrun"), None);
        let role = |line: &str| {
            line.chars()
                .skip(9)
                .take(23)
                .collect::<String>()
                .trim()
                .to_owned()
        };
        let roles: Vec<String> = text.lines().skip(1).take(6).map(role).collect();
        let loaders = "dataloader-worker ×2";
        assert_eq!(
            roles,
            [
                "launcher",
                "trainer (rank 0)",
                loaders,
                "trainer (rank 1)",
                loaders,
                "all 7"
            ]
        );
    }

    #[test]
    fn a_brief_command_begins_with_what_tells_runs_apart() {
        for (whole, brief) in [
            (
                "/opt/venv/bin/python -u /home/me/train.py --lr 1",
                "train.py --lr 1",
            ),
            (
                "/usr/bin/python3 -m torch.distributed.run x.py",
                "-m torch.distributed.run x.py",
            ),
            ("/bin/sh -c x", "sh -c x"),
            ("python", "python"),
            ("my experiment", "my experiment"),
            ("", ""),
        ] {
            let words: Vec<Vec<u8>> = whole.split(' ').map(Vec::from).collect();
            assert_eq!(command(&words, true), brief);
            assert_eq!(command(&words, false), whole);
        }
    }

    #[test]
    fn advice_fits_into_80_columns() {
        let found = saved("plain");
        for may_look_anywhere in [false, true] {
            let hidden = Found {
                hidden: 3,
                unlisted: false,
                ..found.clone()
            };
            let text = no_run_found(&hidden, may_look_anywhere);
            assert!(
                text.lines().all(|line| line.chars().count() <= 80),
                "{text}"
            );
        }
    }

    #[test]
    fn nothing_exceeds_a_terminal_of_80_columns() {
        for case in ["compile", "torchrun", "background-spawn", "title"] {
            let text = runs(&saved(case), Some(80));
            let longest = text.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(longest <= 80, "{longest} in {case}:\n{text}");
            assert!(!text.contains("over…"), "the over-count is cut:\n{text}");
            assert!(text.contains("copy"), "the evidence is not cut:\n{text}");
        }
    }

    #[test]
    fn several_runs_are_counted_with_how_to_choose() {
        let mut found = saved("compile");
        found.runs.extend(saved("plain").runs);
        let text = runs(&found, Some(80));
        assert!(text.starts_with("2 runs; choose one with --pid"), "{text}");
        assert_eq!(text.matches("\npicked ").count(), 2, "{text}");
    }

    #[test]
    fn nothing_found_says_what_was_looked_for_and_what_could_not_be_seen() {
        let mut found = saved("plain");
        found.runs.clear();
        found.looked_at = 212;
        let text = no_run_found(&found, false);
        assert!(
            text.contains("torch, JAX or TensorFlow") && text.contains("212 processes"),
            "{text}"
        );
        assert!(
            text.contains("--match") && text.contains("--pid") && !text.contains("sudo"),
            "{text}"
        );
        found.hidden = 31;
        let text = no_run_found(&found, false);
        assert!(
            text.contains("31 processes could not be read") && text.contains("sudo"),
            "{text}"
        );
        assert!(!no_run_found(&found, true).contains("sudo"));
    }

    #[test]
    fn an_estimate_is_marked_and_explained() {
        let mut found = saved("plain");
        found.runs[0].members[0].memory.is_estimate = true;
        let text = runs(&found, None);
        assert!(text.contains(" ~") && text.contains("--exact"), "{text}");
    }
}
