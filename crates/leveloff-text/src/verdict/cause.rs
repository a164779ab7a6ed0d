//! Where it leads, who and what grows, and what to try next.

use leveloff_classifier::units::Amount;
use leveloff_classifier::verdict::{
    Blame, Clock, ClockTick, Kind, Risk, RunVerdict, Subject, Verdict,
};
use leveloff_model::process::Role;
use leveloff_model::sample::CeilingKind;
use leveloff_model::training_counters::TrainingCounter;
use leveloff_model::units::Seconds;

use crate::rate::amount;
use crate::subject::kind_words;
use crate::x_position::{XPosition, extent};

/// The next step when no finding explains the growth.
pub fn what_to_try(run: &RunVerdict) -> Option<&'static str> {
    let grows = matches!(run.verdict, Verdict::Leak(_) | Verdict::WarmingUp);
    match run.blame.first() {
        _ if !grows => None,
        None => Some(
            "leveloff run -- CMD, or leveloff record --pid PID -o FILE: a recording also shows \
             which process and which kind of memory grows",
        ),
        Some(blame) if blame.role != Some(Role::Trainer) || blame.kind != Kind::Anonymous => None,
        Some(_)
            if run
                .subjects
                .iter()
                .any(|(subject, _)| *subject == Subject::Counter(TrainingCounter::Tensors)) =>
        {
            Some("`memray run --native` names the code that allocates")
        }
        Some(_) => Some(
            "report the number of live tensors from the training \
             (`leveloff.huggingface.LeveloffCallback`, others in docs/PYTHON.md): if it grows too, \
             references are kept; if not, `memray run --native` names the native code that allocates",
        ),
    }
}

/// The base of [`blame_words`]: growth is shared out from where it began. Tables that begin with the run
/// have another.
pub fn blamed_since(run: &RunVerdict) -> Option<String> {
    let onset = run.judgement.onset_x.filter(|_| !run.blame.is_empty())?;
    Some(format!("Since {}:", XPosition::new(onset, run.x_unit)))
}

/// When the limit is reached if growth goes on.
pub fn risk_words(risk: &Risk, run: &RunVerdict) -> String {
    if is_passed(risk, run) {
        return format!(
            "{} ({}) is already exceeded",
            risk.limit,
            limit_words(risk.kind)
        );
    }
    let place = XPosition::new(risk.at_x, run.x_unit);
    let place = place.with_range(risk.earliest_x, risk.latest_x);
    let time = in_about(risk.in_time);
    let limit = risk.limit;
    let what = limit_words(risk.kind);
    format!("if it goes on, {limit} ({what}) is reached at {place}{time}")
}

/// `, in about 13 min`, where the time is known.
pub(super) fn in_about(time: Option<Seconds>) -> String {
    time.map_or_else(String::new, |time| format!(", in about {time}"))
}

/// Whether the ceiling was met before the newest place.
fn is_passed(risk: &Risk, run: &RunVerdict) -> bool {
    let is_now = run
        .memory
        .level
        .is_some_and(|level| level >= Amount::from(risk.limit));
    is_now && run.span.is_some_and(|span| risk.at_x <= span.1)
}

fn limit_words(kind: CeilingKind) -> &'static str {
    match kind {
        CeilingKind::Cgroup => "control group limit",
        CeilingKind::Rlimit => "rlimit",
        CeilingKind::Host => "machine's memory",
        CeilingKind::Stated => "stated limit",
        CeilingKind::Other => "limit",
    }
}

/// The same for less room and for little room: `if it goes on: 24.0 GiB (stated limit)
/// at step 9,400, in about 2 h 37 min`, and without the kind of limit.
pub fn short_risk_words(risk: &Risk, run: &RunVerdict) -> [String; 2] {
    let place = XPosition::new(risk.at_x, run.x_unit);
    let time = in_about(risk.in_time);
    let limit = risk.limit;
    let what = limit_words(risk.kind);
    [
        format!("if it goes on: {limit} ({what}) at {place}{time}"),
        format!("if it goes on: {limit} at {place}{time}"),
    ]
}

/// `trainer (rank 0, pid 22180): 98 %, +1.8 GiB of anonymous memory`
pub fn blame_words(blame: &Blame) -> String {
    let who = blamed_name(blame);
    let kind = kind_words(blame.kind);
    let growth = match blame.kind {
        Kind::Descriptors => format!("{:+.0} {kind}", blame.growth.0),
        _ => format!("{} of {kind}", blame.growth.byte_delta()),
    };
    format!("{who}: {:.0} %, {growth}", blame.share * 100.0)
}

/// `dataloader-worker 2 (rank 1, pid 22180)`
pub fn blamed_name(blame: &Blame) -> String {
    let Some(role) = blame.role else {
        return "no process".to_owned();
    };
    let number = blame.worker.map_or_else(String::new, |n| format!(" {n}"));
    let rank = blame.rank.map(|rank| format!("rank {}", rank.0));
    let pid = blame.pid.map(|pid| format!("pid {pid}"));
    let details: Vec<String> = rank.into_iter().chain(pid).collect();
    match details.is_empty() {
        true => format!("{role}{number}"),
        false => format!("{role}{number} ({})", details.join(", ")),
    }
}

/// `each evaluation adds 20 MiB: 6 times so far, about every 50 steps`
pub fn clock_words(clock: &Clock, run: &RunVerdict) -> String {
    if let Some(counted) = counted_name(clock.tick) {
        let added = amount(COUNTED_TOGETHER * clock.growth.0);
        return format!("1,000 {counted} add {added}: growth follows them, and not the steps");
    }
    let what = match clock.tick {
        ClockTick::Regular => "a regular event".to_owned(),
        tick => format!("each {}", tick.name()),
    };
    let also: String = clock
        .coincident
        .iter()
        .map(|tick| format!(" and {}", tick.name()))
        .collect();
    let times = match clock.ticks {
        1 => "once so far".to_owned(),
        ticks => format!("{ticks} times so far"),
    };
    let every = clock.every.map_or_else(String::new, |every| {
        format!(", about every {}", extent(every, run.x_unit))
    });
    let coincide = match also.is_empty() {
        true => "",
        false => " (they coincide, and the growth may be of any of them)",
    };
    format!(
        "{what}{also} adds {}: {times}{every}{coincide}",
        amount(clock.growth.0)
    )
}

/// One of them adds less than a byte can say.
const COUNTED_TOGETHER: f64 = 1000.0;

fn counted_name(tick: ClockTick) -> Option<&'static str> {
    match tick {
        ClockTick::Token => Some("tokens"),
        ClockTick::TrainingSample => Some("training samples"),
        ClockTick::Episode => Some("episodes"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::story_at_80;

    #[test]
    fn a_shorter_risk_has_the_same_numbers() {
        let story = story_at_80();
        let risk = story.risk.as_ref().unwrap();
        let [short, shortest] = short_risk_words(risk, &story);
        let expected = "if it goes on: 32.0 GiB (stated limit) at step 168, in about 13 min";
        assert_eq!(short, expected);
        assert_eq!(shortest, expected.replace(" (stated limit)", ""));
        assert!(risk_words(risk, &story).contains("step 168 (163 … 173), in about 13 min"));
    }
}
