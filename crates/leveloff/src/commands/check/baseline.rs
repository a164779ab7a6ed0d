//! What was measured once, kept in git: small, sorted, one number a line, versioned.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, bail};
use leveloff_classifier::observation::XUnit;
use leveloff_classifier::profile::{Quantity, Repeated, Side};
use leveloff_classifier::units::X;
use leveloff_classifier::verdict::Kind;
use leveloff_model::process::Role;
use leveloff_text::comparison::quantity_name;
use serde::{Deserialize, Serialize};

use crate::outputs::{self, Existing};

/// The newest version that is written and read.
const VERSION: u32 = 1;

const FORMAT: &str = "leveloff-baseline";

/// No baseline is larger; whatever is, is something else.
const MOST_BYTES: u64 = 4 << 20;

/// The file. These types are the file, not the program.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Baseline {
    format: String,
    version: u32,
    runs: BTreeMap<String, Entry>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    leaks: u32,
    levels: u32,
    longest: f64,
    points: u64,
    quantities: BTreeMap<String, Number>,
    runs: u32,
    unit: String,
    until: f64,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Number {
    error: f64,
    mean: f64,
    runs: u32,
    spread: Option<f64>,
}

impl Baseline {
    pub(crate) fn read(path: &Path) -> Result<Baseline> {
        let shown = path.display();
        let about = std::fs::metadata(path).with_context(|| {
            format!("cannot read the baseline {shown}; --update-baseline writes one")
        })?;
        if !about.is_file() || about.len() > MOST_BYTES {
            bail!("{shown} is not a baseline of leveloff; name another with --baseline");
        }
        let text =
            std::fs::read(path).with_context(|| format!("cannot read the baseline {shown}"))?;
        Baseline::parse(&text).with_context(|| format!("the baseline {shown}"))
    }

    /// Reads one that may not be there yet.
    pub(crate) fn read_or_new(path: &Path) -> Result<Baseline> {
        if path.symlink_metadata().is_ok() {
            return Baseline::read(path);
        }
        Ok(Baseline {
            format: FORMAT.to_owned(),
            version: VERSION,
            runs: BTreeMap::new(),
        })
    }

    /// What is kept under a name.
    pub(crate) fn side(&self, name: &str) -> Result<Side> {
        let Some(entry) = self.runs.get(name) else {
            let known: Vec<&str> = self.runs.keys().map(String::as_str).collect();
            bail!(
                "has no entry '{name}', only: {}; name one with --name, or write it with \
                 --update-baseline",
                known.join(", ")
            );
        };
        entry.side()
    }

    /// Keeps this under a name, in place of what was there.
    pub(crate) fn set(&mut self, name: &str, side: &Side) {
        self.runs.insert(name.to_owned(), Entry::of(side));
    }

    /// Writes it. What is replaced was read as a baseline before.
    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        outputs::write(path, self.text().as_bytes(), Existing::Replace)
    }

    fn text(&self) -> String {
        let text = serde_json::to_string_pretty(self);
        text.expect("keys are text and numbers are finite") + "\n"
    }

    fn parse(text: &[u8]) -> Result<Baseline> {
        let value: serde_json::Value = serde_json::from_slice(text)
            .context("is not JSON; was a merge left half-way? restore it from git, or move it away and write it again with --update-baseline")?;
        if value.get("format").and_then(|f| f.as_str()) != Some(FORMAT) {
            bail!(
                "is not one of leveloff; name another with --baseline, --update-baseline writes it"
            );
        }
        match value.get("version").and_then(serde_json::Value::as_u64) {
            Some(found) if found > u64::from(VERSION) => bail!(
                "has version {found}, this leveloff reads up to {VERSION}; upgrade leveloff to read it"
            ),
            Some(_) => {}
            None => bail!("has no version; restore it from git"),
        }
        let baseline: Baseline =
            serde_json::from_value(value).context("is damaged; restore it from git")?;
        for (name, entry) in &baseline.runs {
            entry.side().with_context(|| format!("entry '{name}'"))?;
        }
        Ok(baseline)
    }
}

impl Entry {
    fn of(side: &Side) -> Entry {
        // Baselines travel between machines, and a speed is that of one machine.
        let lasting = |(quantity, _): &(&Quantity, &Repeated)| **quantity != Quantity::Speed;
        let quantities = side.measured.iter().filter(lasting);
        let quantities = quantities.map(|(quantity, number)| {
            let is_memory = quantity.is_memory();
            (quantity_name(*quantity), Number::of(number, is_memory))
        });
        Entry {
            leaks: side.leaks,
            levels: side.levels,
            longest: side.longest.0.round(),
            points: side.points,
            quantities: quantities.collect(),
            runs: side.runs,
            unit: side.unit.name().to_owned(),
            until: side.until.0.round(),
        }
    }

    fn side(&self) -> Result<Side> {
        let Some(unit) = UNITS.into_iter().find(|unit| unit.name() == self.unit) else {
            bail!("counts '{}', which is not a known unit", self.unit);
        };
        let mut measured = BTreeMap::new();
        for (name, number) in &self.quantities {
            let Some(quantity) = quantity(name) else {
                bail!("has a quantity '{name}', which is not known");
            };
            if quantity.is_memory() && number.mean < 0.0 {
                bail!("has a negative value for '{name}'");
            }
            measured.insert(quantity, number.repeated(name)?);
        }
        if self.runs == 0 {
            bail!("has no runs");
        }
        Ok(Side {
            unit,
            is_mixed: false,
            points: self.points,
            until: X(self.until),
            longest: X(self.longest),
            runs: self.runs,
            leaks: self.leaks,
            levels: self.levels,
            measured,
        })
    }
}

impl Number {
    /// Bytes without fractions, which would only be noise in git.
    fn of(number: &Repeated, is_memory: bool) -> Number {
        let shown = |value: f64| match is_memory {
            true => value.round(),
            false => (value * 1e3).round() / 1e3,
        };
        Number {
            error: shown(number.error),
            mean: shown(number.mean),
            runs: number.runs,
            spread: number.spread.map(shown),
        }
    }

    fn repeated(&self, name: &str) -> Result<Repeated> {
        let spread = self.spread.unwrap_or(0.0);
        let sound = [self.mean, self.error, spread]
            .into_iter()
            .all(f64::is_finite);
        if !sound || self.error < 0.0 || spread < 0.0 || self.runs == 0 {
            bail!("has impossible values for '{name}'");
        }
        Ok(Repeated {
            runs: self.runs,
            mean: self.mean,
            spread: self.spread,
            error: self.error,
        })
    }
}

const UNITS: [XUnit; 5] = [
    XUnit::Step,
    XUnit::Iteration,
    XUnit::Epoch,
    XUnit::Sample,
    XUnit::Second,
];

fn quantity(name: &str) -> Option<Quantity> {
    let whole = [
        Quantity::Level,
        Quantity::Peak,
        Quantity::Growth,
        Quantity::Baseline,
        Quantity::WarmupEnd,
    ];
    let roles = Role::ALL.into_iter().map(Quantity::Role);
    let kinds = Kind::ALL.into_iter().map(Quantity::Kind);
    let mut all = whole.into_iter().chain(roles).chain(kinds);
    all.find(|quantity| quantity_name(*quantity) == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side() -> Side {
        let number = Repeated {
            runs: 3,
            mean: 1000.4,
            spread: Some(12.0),
            error: 1.0,
        };
        Side {
            unit: XUnit::Step,
            is_mixed: false,
            points: 250,
            until: X(290.0),
            longest: X(300.0),
            runs: 3,
            leaks: 0,
            levels: 3,
            measured: [
                (Quantity::Level, number),
                (Quantity::Role(Role::Trainer), number),
                (Quantity::Kind(Kind::Anonymous), number),
                (Quantity::Speed, number),
            ]
            .into(),
        }
    }

    #[test]
    fn what_was_written_is_read_and_other_entries_stay() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("leveloff-baseline.json");
        for name in ["b", "a"] {
            let mut baseline = Baseline::read_or_new(&path).unwrap();
            baseline.set(name, &side());
            baseline.write(&path).unwrap();
        }
        let baseline = Baseline::read(&path).unwrap();
        let read = baseline.side("b").unwrap();
        assert_eq!(read.get(Quantity::Level).unwrap().mean, 1000.0);
        assert_eq!((read.runs, read.unit), (3, XUnit::Step));
        assert!(read.get(Quantity::Speed).is_none());
        let error = baseline.side("c").unwrap_err().to_string();
        assert!(error.contains("a, b"), "{error}");
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.find("\"a\"") < text.find("\"b\""));
        assert!(text.ends_with("}\n") && text.lines().all(|line| line.len() < 80));
    }

    #[test]
    fn what_is_no_baseline_is_refused_with_what_to_do() {
        for (text, expected) in [
            ("", "not JSON"),
            ("<<<<<<< HEAD\n{}", "not JSON"),
            ("{}", "not one of leveloff"),
            ("[1]", "not one of leveloff"),
            (r#"{"format":"leveloff-baseline","runs":{}}"#, "no version"),
            (
                r#"{"format":"leveloff-baseline","version":2,"runs":[]}"#,
                "upgrade",
            ),
            (
                r#"{"format":"leveloff-baseline","version":1,"runs":{"a":{}}}"#,
                "damaged",
            ),
        ] {
            let error = format!("{:#}", Baseline::parse(text.as_bytes()).unwrap_err());
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn numbers_that_cannot_be_are_refused() {
        let mut baseline =
            Baseline::parse(br#"{"format":"leveloff-baseline","version":1,"runs":{}}"#).unwrap();
        baseline.set("a", &side());
        let good = baseline.text();
        for (from, to) in [
            ("\"unit\": \"step\"", "\"unit\": \"parsec\""),
            ("level_bytes", "levle_bytes"),
            ("\"error\": 1.0", "\"error\": -1.0"),
            (
                "\"runs\": 3,\n          \"spread\"",
                "\"runs\": 0,\n          \"spread\"",
            ),
        ] {
            assert!(good.contains(from), "{from} is not in {good}");
            let bad = good.replace(from, to);
            assert!(Baseline::parse(bad.as_bytes()).is_err(), "{to}");
        }
    }
}
