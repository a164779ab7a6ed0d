//! `leveloff compare`: what changed between two runs, beyond noise.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use leveloff_classifier::allocation_history::LineGrowth;
use leveloff_classifier::compare::{Comparison, LineChange, compare, line_changes};
use leveloff_classifier::gate::CheckOutcome;
use leveloff_classifier::profile::{RunProfile, Side};
use leveloff_classifier::run_curves::RunCurves;
use leveloff_classifier::units::X;
use leveloff_classifier::verdict::Verdict;
use leveloff_report::comparison::compared::{BothCurves, Compared};
use leveloff_report::comparison::{html, json, markdown, text};
use leveloff_report::run_report::RunReport;
use leveloff_text::verdict::Headline;
use leveloff_text::x_position::XPosition;

use crate::args::{CompareArgs, CompareFormat};
use crate::exit_code::Exit;
use crate::notice::notice;
use crate::outputs::{self, Existing};
use crate::report_files::own_names;
use crate::run_reader::RunReader;
use crate::stdout::paint;

/// Runs whose lengths differ by less than this share are taken as they are.
const ALIKE: f64 = 0.02;

/// How many runs get their own verdict printed.
const MOST_VERDICTS: usize = 8;

/// Both sides, read and compared.
struct Sides {
    before: Vec<RunReport>,
    after: Vec<RunReport>,
    comparison: Comparison,
    /// What is said of each run on its own, as a whole.
    headlines: Vec<String>,
    /// What had to be done to make them comparable.
    notes: Vec<String>,
}

pub(crate) fn run(args: &CompareArgs) -> Result<Exit> {
    let format = format(args)?;
    let existing = Existing::replaced_if(args.force);
    let output = args.output.clone().unwrap_or_else(|| PathBuf::from("-"));
    outputs::check(&output, existing)?;
    let (before, after) = args.sides();
    let mut sides = read(args, &before, &after)?;
    if args.redact {
        let names = own_names();
        for run in sides.before.iter_mut().chain(&mut sides.after) {
            *run = run.clone().redacted(&names);
        }
    }
    outputs::write(&output, written(&sides, format).as_bytes(), existing)?;
    if !outputs::is_stdout(&output) {
        notice(&format!("wrote {}", output.display()));
    }
    Ok(CheckOutcome::from(sides.comparison.outcome).into())
}

fn read(args: &CompareArgs, before: &[PathBuf], after: &[PathBuf]) -> Result<Sides> {
    let all: Vec<&PathBuf> = before.iter().chain(after).collect();
    if all.iter().any(|path| outputs::is_stdout(path)) {
        bail!("runs may have to be read twice, and stdin cannot be; save it to a file first");
    }
    if let Some(output) = &args.output {
        outputs::refuse_input(output, &all)?;
    }
    let mut reader = RunReader {
        columns: args.columns.choice(),
        stated: args.facts.stated(),
        ..RunReader::default()
    };
    let mut runs = read_all(&reader, &all)?;
    let mut notes = Vec::new();
    let headline = |run: &RunReport| Headline::of(&run.verdict).whole();
    let headlines = runs.iter().map(headline).collect();
    // Whether a run leaks is known from all of it, also where it is compared over a part.
    let whole: Vec<Verdict> = runs.iter().map(|run| run.verdict.verdict).collect();
    if let Some(until) = common_stretch(&runs) {
        notes.push(format!(
            "compared up to {}, as far as all of them went",
            XPosition::new(X(until), runs[0].verdict.x_unit)
        ));
        reader.until = Some(until);
        runs = read_all(&reader, &all)?;
    }
    let units: Vec<&str> = runs.iter().map(|run| run.verdict.x_unit.name()).collect();
    if units.iter().any(|unit| *unit != units[0]) {
        notes.push(
            "the runs count different things, so places and rates are not compared".to_owned(),
        );
    }
    let after = runs.split_off(before.len());
    let (whole_before, whole_after) = whole.split_at(before.len());
    let comparison = compare(&side(&runs, whole_before), &side(&after, whole_after));
    Ok(Sides {
        headlines,
        before: runs,
        after,
        comparison,
        notes,
    })
}

/// Which lines make more or less, where all runs have lines and count the same.
fn line_changes_of(sides: &Sides) -> Option<Vec<LineChange>> {
    let mut all = sides.before.iter().chain(&sides.after);
    let is_known = sides.comparison.unit.is_some() && all.all(|run| run.is_heap_sampled);
    is_known.then(|| line_changes(&lines_of(&sides.before), &lines_of(&sides.after)))
}

fn lines_of(runs: &[RunReport]) -> Vec<&[LineGrowth]> {
    runs.iter().map(|run| run.lines.as_slice()).collect()
}

fn read_all(reader: &RunReader, paths: &[&PathBuf]) -> Result<Vec<RunReport>> {
    paths.iter().map(|path| reader.read(path)).collect()
}

/// How far all of them went, if some went notably further. Where they count different things, nothing
/// can be aligned.
fn common_stretch(runs: &[RunReport]) -> Option<f64> {
    let unit = runs[0].verdict.x_unit;
    if runs.iter().any(|run| run.verdict.x_unit != unit) {
        return None;
    }
    let ends = runs
        .iter()
        .filter_map(|run| run.verdict.span.map(|(_, last)| last.0));
    let (shortest, longest) = ends.fold((f64::INFINITY, 0.0_f64), |(low, high), end| {
        (low.min(end), high.max(end))
    });
    (shortest.is_finite() && longest > (1.0 + ALIKE) * shortest).then_some(shortest)
}

fn side(runs: &[RunReport], verdicts: &[Verdict]) -> Side {
    let profiles: Vec<RunProfile> = runs
        .iter()
        .zip(verdicts)
        .map(|(run, verdict)| RunProfile {
            verdict: *verdict,
            ..RunProfile::of(&run.verdict, &run.curves)
        })
        .collect();
    Side::of(&profiles).expect("clap wants at least one file on each side")
}

fn format(args: &CompareArgs) -> Result<CompareFormat> {
    if let Some(format) = args.format {
        return Ok(format);
    }
    let Some(output) = args
        .output
        .as_deref()
        .filter(|path| !outputs::is_stdout(path))
    else {
        return Ok(CompareFormat::Text);
    };
    match Path::new(output)
        .extension()
        .and_then(|ending| ending.to_str())
    {
        Some("html" | "htm") => Ok(CompareFormat::Html),
        Some("md" | "markdown") => Ok(CompareFormat::Markdown),
        Some("json") => Ok(CompareFormat::Json),
        Some("txt") => Ok(CompareFormat::Text),
        _ => bail!(
            "the name {} has no known extension; use .html, .md, .json or .txt, or pass --format",
            output.display()
        ),
    }
}

fn written(sides: &Sides, format: CompareFormat) -> String {
    let names = |runs: &[RunReport]| runs.iter().map(|run| run.input.clone()).collect::<Vec<_>>();
    let (before_names, after_names) = (names(&sides.before), names(&sides.after));
    let before: Vec<&RunCurves> = sides.before.iter().map(|run| &run.curves).collect();
    let after: Vec<&RunCurves> = sides.after.iter().map(|run| &run.curves).collect();
    // Named by what they are called here, which may be without their paths.
    let inputs = before_names.iter().chain(&after_names);
    let verdicts = inputs.zip(&sides.headlines).take(MOST_VERDICTS);
    let verdicts = verdicts.map(|(input, headline)| format!("{input}: {headline}"));
    let notes: Vec<String> = verdicts.chain(sides.notes.iter().cloned()).collect();
    let lines = line_changes_of(sides);
    let compared = Compared {
        before_names: &before_names,
        after_names: &after_names,
        comparison: &sides.comparison,
        curves: Some(BothCurves {
            before: &before,
            after: &after,
        }),
        lines: lines.as_deref(),
        notes: &notes,
    };
    match format {
        CompareFormat::Text => text::page(&compared, paint()),
        CompareFormat::Markdown => markdown::document(&compared),
        CompareFormat::Json => json::object(&compared) + "\n",
        CompareFormat::Html => html::page(&compared, &sides.before, &sides.after),
    }
}
