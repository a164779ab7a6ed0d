//! The four answers that are read from across the room: the verdict, who, how fast, how long.

use leveloff_classifier::observation::XUnit;
use leveloff_classifier::run_analysis::RunAccount;
use leveloff_classifier::units::AmountPerX;
use leveloff_classifier::verdict::{RunVerdict, WillFinish};

use crate::evidence::bound;
use crate::rate::{MemoryRate, amount};
use crate::subject::{kind_words, things};
use crate::verdict::{Headline, blamed_name, growth};
use crate::x_position::XPosition;

/// One answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tile {
    /// What is answered.
    pub heading: &'static str,
    /// The answer in a few words.
    pub main: String,
    /// What belongs to it; may be empty.
    pub detail: String,
    /// The answer where there is no room for the heading.
    pub short: String,
}

/// What stands where there is nothing to say.
const NOTHING: &str = "–";

/// The verdict, who grows, how fast, and how much time is left.
pub fn tiles(run: &RunVerdict, account: &RunAccount) -> [Tile; 4] {
    let headline = Headline::of(run);
    let since = headline.rest.trim_start_matches([':', ',', ' ']);
    let tile = |heading, main: String, detail: String| Tile {
        heading,
        short: main.clone(),
        main,
        detail,
    };
    let (who, share) = who(run);
    let (rate, conversion) = rate(run);
    let time_left = time_left(run, account);
    [
        tile("VERDICT", headline.words().to_owned(), since.to_owned()),
        tile("WHO", who, share),
        tile("RATE", rate, conversion),
        time_left,
    ]
}

fn who(run: &RunVerdict) -> (String, String) {
    let grows = !run.verdict.is_level();
    match run.blame.first().filter(|_| grows) {
        Some(blame) => {
            let percent = 100.0 * blame.share;
            let kind = kind_words(blame.kind);
            (
                blamed_name(blame),
                format!("{percent:.0} % of the growth, {kind}"),
            )
        }
        None => (NOTHING.to_owned(), String::new()),
    }
}

fn rate(run: &RunVerdict) -> (String, String) {
    if run.verdict.is_level() {
        return ("level".to_owned(), bound(run));
    }
    let (Some(words), Some(rate)) = (growth(run), run.judgement.rate) else {
        return (NOTHING.to_owned(), String::new());
    };
    if things(run.decisive).is_some() {
        return (words, String::new());
    }
    let conversions = MemoryRate::new(rate, run.x_unit).conversions(run.pace);
    let conversion = conversions.last().cloned();
    (
        short_rate(rate.value, run.x_unit),
        conversion.unwrap_or_default(),
    )
}

/// `2.06 MiB/step`
fn short_rate(AmountPerX(rate): AmountPerX, unit: XUnit) -> String {
    match unit {
        XUnit::Second => format!("{}/min", amount(60.0 * rate)),
        unit => format!("{}/{}", amount(rate), unit.name()),
    }
}

fn time_left(run: &RunVerdict, account: &RunAccount) -> Tile {
    let tile = |main: &str, detail: String, short: String| Tile {
        heading: "TIME LEFT",
        main: main.to_owned(),
        detail,
        short,
    };
    if account.is_over {
        return tile("ended", String::new(), "ended".to_owned());
    }
    let grows = !run.verdict.is_level();
    if let Some(risk) = run.risk.as_ref().filter(|_| grows) {
        let place = XPosition::new(risk.at_x, run.x_unit);
        let detail = format!("{} at {place}", risk.limit);
        return match risk.in_time {
            Some(time) => tile(&time.to_string(), detail, format!("{time} left")),
            None => tile(&format!("until {place}"), detail, format!("until {place}")),
        };
    }
    match run.will_finish {
        WillFinish::Yes(end) => {
            let place = XPosition::new(end.planned, run.x_unit);
            let memory = end.memory.bytes();
            tile(
                "finishes",
                format!("{memory} at {place}"),
                "finishes".to_owned(),
            )
        }
        _ => tile(NOTHING, String::new(), String::new()),
    }
}

#[cfg(test)]
mod tests {
    use leveloff_classifier::observation::Observation;
    use leveloff_classifier::run_analysis::RunAnalysis;
    use leveloff_model::recording::StatedFacts;

    use super::*;
    use crate::cases::{leak, story_at_80, story_at_300};

    fn account() -> RunAccount {
        let mut run = RunAnalysis::new(XUnit::Step, &StatedFacts::default());
        run.observe(&Observation::default());
        run.account().unwrap()
    }

    fn answers(run: &RunVerdict) -> Vec<String> {
        let tiles = tiles(run, &account());
        let words = tiles.map(|tile| format!("{}: {} | {}", tile.heading, tile.main, tile.detail));
        words.to_vec()
    }

    #[test]
    fn a_leak_has_who_and_how_fast() {
        let said = answers(&leak());
        assert_eq!(said[0], "VERDICT: LEAK (confirmed) | since step 1");
        assert_eq!(
            said[1],
            "WHO: trainer (pid 22180) | 98 % of the growth, anonymous memory"
        );
        assert!(said[2].starts_with("RATE: 2.06 MiB/step | "), "{said:?}");
    }

    #[test]
    fn growth_that_is_not_decided_has_the_time_left() {
        let said = answers(&story_at_80());
        assert_eq!(said[3], "TIME LEFT: 13 min | 32.0 GiB at step 168");
    }

    #[test]
    fn a_level_run_has_no_culprit_and_no_time() {
        let said = answers(&story_at_300());
        assert!(
            said[0].starts_with("VERDICT: LEVEL | since step 88"),
            "{said:?}"
        );
        assert_eq!(said[1], "WHO: – | ");
        assert!(
            said[2].starts_with("RATE: level | no growth faster than"),
            "{said:?}"
        );
        assert_eq!(said[3], "TIME LEFT: – | ");
    }

    #[test]
    fn of_a_run_that_ended_no_time_is_left() {
        let mut account = account();
        account.is_over = true;
        assert_eq!(tiles(&leak(), &account)[3].main, "ended");
    }
}
