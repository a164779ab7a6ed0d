//! A trial as one page: the answer, the curves of all runs over one axis, and the table.

use leveloff_classifier::observation::XUnit;
use leveloff_classifier::trial::{ArmState, Effect, TrialOutcome};
use leveloff_text::trial::Answer;
use leveloff_text::verdict::capitalised;
use serde_json::Value;

use super::table::{columns, rows, unmeasured};
use super::{TrialReport, TrialRun};
use crate::html::document::Document;
use crate::html::markup::Markup;
use crate::run::html::data;

/// The whole page.
pub fn page(trial: &TrialReport) -> String {
    let answer = trial.answer();
    let mut body = Markup::new();
    write_headline(trial, &answer, &mut body);
    body.raw("<main id=\"main\">\n");
    write_chart(&mut body);
    write_table(trial, &mut body);
    write_list("so-heading", "What follows", &follows(&answer), &mut body);
    let notes = [unmeasured(trial), trial.notes.clone()].concat();
    write_notes(&notes, &mut body);
    body.raw("</main>\n");
    let tool = trial.control.iter().find_map(|run| run.report.as_ref());
    let tool = tool.map_or("", |report| report.tool.as_str());
    body.raw("<footer>Made by leveloff ").text(tool);
    body.raw(". This page makes no network requests.</footer>\n");
    Document {
        title: &capitalised(&answer.headline),
        body,
        data: &curves(trial),
    }
    .into_html()
}

fn follows(answer: &Answer) -> Vec<String> {
    let next = answer
        .next_command
        .iter()
        .map(|command| format!("next: {command}"));
    let follows = answer.follows.iter().chain(&answer.next).cloned();
    follows.chain(next).collect()
}

/// Every run that was recorded. The control runs have one colour, what stops the growth another.
fn curves(trial: &TrialReport) -> String {
    let unit = trial.summary.unit;
    let mut all = named("control", CONTROL, &trial.control, unit);
    for (arm, runs) in trial.summary.arms.iter().zip(&trial.arms) {
        let family = match &arm.state {
            ArmState::Measured { result, .. } => family(result.effect),
            _ => UNDECIDED,
        };
        all.extend(named(&arm.name, family, runs, unit));
    }
    data::page(unit, all)
}

/// The colours of the chart.
const CONTROL: usize = 0;
const UNDECIDED: usize = 1;
const NO_EFFECT: usize = 2;
const HELPS: usize = 3;

fn family(effect: Effect) -> usize {
    match effect {
        Effect::Stops | Effect::Reduces => HELPS,
        Effect::None => NO_EFFECT,
        Effect::Undecided => UNDECIDED,
    }
}

fn named(name: &str, family: usize, runs: &[TrialRun], unit: XUnit) -> Vec<Value> {
    let reports = runs.iter().filter_map(|run| run.report.as_ref());
    // A run that never counted a step has no place on the axis.
    let on_axis = reports.filter(|report| report.verdict.x_unit == unit);
    on_axis
        .enumerate()
        .map(|(place, report)| {
            let name = match place {
                0 => name.to_owned(),
                place => format!("{name} {}", place + 1),
            };
            data::run_of_trial(report, &name, family)
        })
        .collect()
}

fn write_headline(trial: &TrialReport, answer: &Answer, page: &mut Markup) {
    page.raw("<header class=\"").raw(colour(trial));
    page.raw("\">\n<div class=\"top\"><p class=\"input\">");
    page.element("code", &trial.command);
    page.raw(
        "</p>\n<button type=\"button\" id=\"theme\" class=\"js\" hidden>Dark</button></div>\n",
    );
    page.element("h1", &capitalised(&answer.headline));
    page.raw("\n<dl class=\"evidence\">\n");
    page.term("effect", answer.numbers.as_deref());
    page.raw("</dl>\n</header>\n");
}

fn colour(trial: &TrialReport) -> &'static str {
    match trial.summary.outcome() {
        TrialOutcome::Stopped | TrialOutcome::NothingToCure => "level",
        TrialOutcome::NothingHelps => "leak",
        TrialOutcome::Reduced => "warming-up",
        TrialOutcome::Undecided | TrialOutcome::ControlUndecided => "undecided",
    }
}

fn write_chart(page: &mut Markup) {
    page.section("chart-heading", "Memory of all runs");
    page.raw("<div id=\"controls\" class=\"controls js\" hidden></div>\n");
    page.raw("<div id=\"chart\" class=\"chart js\" hidden></div>\n");
    page.raw("<div id=\"legend\" class=\"legend js\" hidden></div>\n");
    page.raw(
        "<noscript><p class=\"note\">The chart is drawn by JavaScript, which is off. The numbers \
              below are complete without it.</p></noscript>\n",
    );
    page.end_section();
}

fn write_table(trial: &TrialReport, page: &mut Markup) {
    let rows = rows(trial);
    if rows.is_empty() {
        return;
    }
    page.section("changes-heading", "What each change does");
    let names = columns(trial);
    let classes = ["", "found", "n", "n", "n", "n"];
    let names = names.iter().map(String::as_str);
    let head: Vec<_> = classes.into_iter().zip(names).collect();
    let caption = "In brackets and behind ±: intervals. Speed: against the control runs. In the chart, control runs have one colour, what helps \
                   another, what has no effect a third.";
    page.table("changes-heading", caption, &head);
    for [name, effect, numbers @ ..] in rows {
        page.raw("<tr><th scope=\"row\">").element("code", &name);
        page.raw("</th>").element("td class=\"found\"", &effect);
        for cell in numbers {
            page.element("td class=\"n\"", &cell);
        }
        page.raw("</tr>\n");
    }
    page.end_table().end_section();
}

fn write_list(id: &'static str, heading: &'static str, items: &[String], page: &mut Markup) {
    if items.is_empty() {
        return;
    }
    page.section(id, heading);
    page.list("notes", items.iter()).end_section();
}

/// With what the page's script makes of its data.
fn write_notes(notes: &[String], page: &mut Markup) {
    page.section("notes-heading", "Data and notes");
    page.list("notes", notes.iter());
    page.raw(
        "<p class=\"js\" hidden><button type=\"button\" id=\"csv\">Download CSV</button> \
              <span id=\"csv-done\" role=\"status\"></span></p>\n",
    );
    page.end_section();
}
