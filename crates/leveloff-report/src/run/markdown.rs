//! A run for an issue upstream: what grows, how fast, since when; the evidence, what was ruled out,
//! where it ran and how to see it again.
//!
//! Made for GitHub's renderer. Untrusted text (commands, paths, names of hosts) is set as code, where
//! nothing is a mention, a link or a tag.

mod document;
mod evidence;
mod setting;

use leveloff_classifier::verdict::{ClockTick, Grade, RunVerdict, Subject, Verdict};
use leveloff_model::training_counters::GrownTensors;
use leveloff_text::allocation;
use leveloff_text::evidence::{bound, memory_beside, warmup};
use leveloff_text::finding::finding_words;
use leveloff_text::known_bug::bug_words;
use leveloff_text::number::more_or_less;
use leveloff_text::rate::MemoryRate;
use leveloff_text::subject::{things, words};
use leveloff_text::verdict::{
    Headline, blame_words, blamed_since, capitalised, clock_words, contradiction_words,
    growth_with_interval, risk_words, sentence, settling, verdict_words, what_to_try,
};
use leveloff_text::x_position::XPosition;

use crate::markdown::{code, prose};
use crate::run::ruled_out::ruled_out;
use crate::run::sizing;
use crate::run::text_chart::text_chart;
use crate::run::trim::trim_words;
use crate::run_report::RunReport;
use document::Document;

/// The report.
pub fn document(report: &RunReport) -> String {
    let mut page = Document::default();
    page.paragraph(&first_line(&report.verdict));
    page.paragraph(&what_was_seen(report));
    page.fence("", &text_chart(report));
    page.heading("Evidence");
    evidence::write(report, &mut page);
    write_lines(report, &mut page);
    write_grown_tensors(report, &mut page);
    write_cause(report, &mut page);
    write_ruled_out(report, &mut page);
    write_sizing(report, &mut page);
    setting::write_environment(report, &mut page);
    setting::write_reproduction(report, &mut page);
    setting::write_method(report, &mut page);
    page.into_text()
}

/// Only if the run was started with `--blame`.
fn write_lines(report: &RunReport, page: &mut Document) {
    let rows: Vec<Vec<String>> = allocation::named(&report.lines)
        .map(|line| {
            let source = allocation::source(line).map_or_else(String::new, |it| code(&it));
            vec![
                code(&allocation::place(line)),
                source,
                format!(
                    "{:.0} % ± {:.0}",
                    line.share * 100.0,
                    line.share_margin * 100.0
                ),
                line.growth.byte_delta().to_string(),
                line.certainty.name().to_owned(),
            ]
        })
        .collect();
    if let Some(first) = report.lines.first().filter(|_| !rows.is_empty()) {
        page.heading("Lines that allocated the memory that is not freed");
        page.table(&["where", "line", "share", "growth", "certainty"], &rows);
        page.paragraph(&format!("{}.", capitalised(allocation::caution(first))));
    }
}

/// Only if the training reports them, under its own names.
fn write_grown_tensors(report: &RunReport, page: &mut Document) {
    if report.grown.is_empty() {
        return;
    }
    page.heading("Tensors that grew in number");
    let row = |grown: &GrownTensors| {
        let more = more_or_less(grown.more as f64);
        vec![code(&grown.what), more, format!("+{}", grown.more_bytes)]
    };
    let rows: Vec<Vec<String>> = report.grown.iter().map(row).collect();
    page.table(&["what", "more", "more memory"], &rows);
}

fn write_ruled_out(report: &RunReport, page: &mut Document) {
    let items: Vec<String> = ruled_out(report).iter().map(|line| prose(line)).collect();
    if !items.is_empty() {
        page.heading("Ruled out");
        page.list(&items);
    }
}

/// What grows, how fast, since when; or that nothing does.
fn first_line(run: &RunVerdict) -> String {
    let headline = Headline::of(run);
    let what = capitalised(&words(run.decisive));
    let since = run.judgement.onset_x.map_or_else(String::new, |onset| {
        format!(" since {}", XPosition::new(onset, run.x_unit))
    });
    // Open descriptors grow, memory grows; one file would be no series.
    let grows = match run.decisive {
        Subject::DevShm | Subject::Descriptors | Subject::Processes => "grow",
        Subject::Counter(fact) if !fact.is_bytes() => "grow",
        _ => "grows",
    };
    let rate = growth_with_interval(run).map_or_else(String::new, |rate| format!(" by {rate}"));
    let unlike = contradiction_words(run).map_or_else(String::new, |it| format!(", {it}"));
    match run.verdict {
        Verdict::Leak(_) => format!(
            "**{what} {grows}{rate}{since}.** Verdict: {}{unlike}.",
            verdict_words(run.verdict)
        ),
        Verdict::WarmingUp => format!(
            "**{what} {grows}{rate}{since}.** Verdict: {}.",
            headline.whole()
        ),
        Verdict::Level(_) => format!("**Memory does not grow: {}.**", headline.whole()),
        Verdict::Undecided => format!(
            "**It is not decided whether memory grows.** Verdict: {}.",
            headline.whole()
        ),
    }
}

/// The sentences behind the first line.
fn what_was_seen(report: &RunReport) -> String {
    let run = &report.verdict;
    let mut sentences = vec![format!("Seen: {}.", Headline::of(run).facts().join(", "))];
    sentences.extend(other_bases(run));
    sentences.extend(report.speed_words().map(|speed| format!("Speed: {speed}.")));
    match run.verdict {
        Verdict::Level(_) => {
            let warmup = warmup(run).map_or_else(String::new, |warmup| format!("{warmup}, then "));
            sentences.push(format!("{}.", capitalised(&(warmup + &bound(run)))));
        }
        Verdict::Leak(Grade::Early | Grade::Confirmed) => {
            sentences.push(format!("{}.", capitalised(&sentence(run, &report.stated))));
        }
        Verdict::Leak(Grade::Suspected) | Verdict::WarmingUp | Verdict::Undecided => {
            sentences.push(format!("{}.", capitalised(&sentence(run, &report.stated))));
            let settling = settling(run, &report.stated).join("; ");
            sentences.push(format!("It will be decided {settling}."));
        }
    }
    sentences.extend(memory_beside(run).map(|text| format!("All memory of the run: {text}.")));
    if let Some(risk) = &run.risk {
        sentences.push(format!("{}.", capitalised(&risk_words(risk, run))));
    }
    prose(&sentences.join(" "))
}

/// The same growth per 10 steps, per minute and so on.
fn other_bases(run: &RunVerdict) -> Option<String> {
    let grows = matches!(run.verdict, Verdict::Leak(_) | Verdict::WarmingUp);
    let rate = run
        .judgement
        .rate
        .filter(|_| grows && things(run.decisive).is_none())?;
    let bases = MemoryRate::new(rate, run.x_unit).conversions(run.pace);
    (!bases.is_empty()).then(|| format!("That is {}.", bases.join(" = ")))
}

/// Who and which kind of memory, what makes it grow, what else was found.
fn write_cause(report: &RunReport, page: &mut Document) {
    let run = &report.verdict;
    let mut items: Vec<String> = run
        .blame
        .iter()
        .map(|blame| prose(&blame_words(blame)))
        .collect();
    if let (Some(first), Some(since)) = (items.first_mut(), blamed_since(run)) {
        *first = format!("{since} {first}");
    }
    let clock = run
        .clock
        .as_ref()
        .filter(|clock| clock.tick != ClockTick::Step);
    items.extend(clock.map(|clock| prose(&clock_words(clock, run))));
    for finding in &run.findings {
        let words = finding_words(finding);
        items.push(format!(
            "{}: {}. Next: {}",
            code(finding.name()),
            prose(&words.text),
            prose(&words.next)
        ));
    }
    for suspected in &run.known_bugs {
        let words = bug_words(suspected);
        items.push(format!(
            "{}. Next: {}. <{}>",
            prose(&words.text),
            prose(&words.next),
            suspected.bug.link
        ));
    }
    items.extend(trim_words(report).map(|trim| prose(&trim)));
    if run.findings.is_empty() {
        items.extend(what_to_try(run).map(|next| format!("Next: {}", prose(next))));
    }
    if !items.is_empty() {
        page.heading("Who and what");
        page.list(&items);
    }
}

/// What a machine for this run needs, a column for each machine.
fn write_sizing(report: &RunReport, page: &mut Document) {
    if report.host_sizing.is_none() {
        return;
    }
    page.heading("Sizing");
    let machines = sizing::cells(report);
    let head: Vec<&str> = std::iter::once("")
        .chain(machines.iter().map(|(name, _)| *name))
        .collect();
    let row = |(index, name): (usize, &&str)| {
        let cells = machines.iter().map(|(_, cells)| cells[index].clone());
        std::iter::once((*name).to_owned()).chain(cells).collect()
    };
    let rows: Vec<Vec<String>> = sizing::CELLS.iter().enumerate().map(row).collect();
    page.table(&head, &rows);
    page.paragraph(sizing::LEGEND);
}

#[cfg(test)]
mod tests;
