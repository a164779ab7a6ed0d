//! Where it ran, and what could not be measured there.

use jiff::Timestamp;
use leveloff_model::recording::StatedFacts;
use leveloff_model::units::Limit;
use leveloff_text::number::thousands;
use leveloff_text::verdict::end_words;

use crate::html::markup::Markup;
use crate::run_report::{Background, Group, RunReport};

/// Writes where it ran.
pub fn write(report: &RunReport, page: &mut Markup) {
    let around = &report.background;
    page.section("environment-heading", "Environment");
    page.raw("<dl class=\"facts\">\n");
    write_command(around, page);
    page.term("started", around.started_unix.and_then(moment).as_deref());
    page.term(
        "ended",
        around
            .end
            .as_ref()
            .map(|end| end_words(end.reason))
            .as_deref(),
    );
    page.term("host", around.host.as_deref());
    page.term("kernel", around.kernel.as_deref());
    let memory = around.machine_memory.map(|memory| memory.to_string());
    page.term("machine's memory", memory.as_deref());
    // A recording may say that there is none.
    let group = around
        .cgroup
        .as_ref()
        .filter(|group| !group.path.is_empty());
    page.term("control group", group.map(group_words).as_deref());
    page.term(
        "nearest limit",
        report
            .verdict
            .limit
            .map(|limit| limit.to_string())
            .as_deref(),
    );
    write_software(around, page);
    page.term("stated", stated_words(&report.stated).as_deref());
    page.term(
        "input",
        Some(&format!("{} ({})", report.input, report.format)),
    );
    page.term("sampled", sampled_words(around).as_deref());
    page.raw("</dl>\n");
    page.end_section();
}

/// Writes what is missing and what was guessed.
pub fn write_gaps(report: &RunReport, page: &mut Markup) {
    let Background {
        gaps,
        gaps_left_out,
        ..
    } = &report.background;
    if gaps.is_empty() && report.notes.is_empty() {
        return;
    }
    page.section("gaps-heading", "Gaps and notes");
    page.raw("<ul class=\"gaps\">\n");
    for line in report.notes.iter().chain(gaps) {
        page.element("li", line).raw("\n");
    }
    if *gaps_left_out > 0 {
        let more = format!("{} more gaps of this sort", thousands(*gaps_left_out));
        page.element("li", &more);
    }
    page.raw("</ul>\n");
    page.end_section();
}

fn write_command(around: &Background, page: &mut Markup) {
    if let Some(command) = &around.command {
        page.raw("<div class=\"wide\"><dt>command</dt><dd>");
        page.element("code", &command.join(" "))
            .raw("</dd></div>\n");
    }
    let joined = around
        .joined
        .map(|pid| format!("process {pid}, which ran already"));
    page.term("joined", joined.as_deref());
}

/// Versions and variables of the trainer, as far as they could be read.
fn write_software(around: &Background, page: &mut Markup) {
    let Some(software) = &around.software else {
        return;
    };
    page.term("Python", software.python.as_deref());
    for (term, values, sign) in [
        ("packages", &software.packages, " "),
        ("variables", &software.variables, "="),
    ] {
        let values = values.as_ref().filter(|values| !values.is_empty());
        let told = values.map(|values| {
            let told = values
                .iter()
                .map(|(name, value)| format!("{name}{sign}{value}"));
            told.collect::<Vec<_>>().join(", ")
        });
        page.term(term, told.as_deref());
    }
}

fn moment(unix: f64) -> Option<String> {
    let moment = Timestamp::from_second(unix as i64).ok()?.to_string();
    Some(moment.replace('T', " ").replace('Z', " UTC"))
}

fn group_words(group: &Group) -> String {
    let Group {
        version,
        path,
        limit,
    } = group;
    match limit {
        Some(limit) => format!("{path} (version {version}), limit {limit}"),
        None => format!("{path} (version {version}), no limit"),
    }
}

fn stated_words(stated: &StatedFacts) -> Option<String> {
    let steps = [
        ("level by step", stated.level_by),
        ("planned steps", stated.planned_steps),
        ("steps in an epoch", stated.epoch_steps),
    ];
    let steps = steps
        .into_iter()
        .filter_map(|(what, step)| Some(format!("{what} {}", step?)));
    let limit = stated.limit.map(limit_words);
    let told: Vec<String> = steps.chain(limit).collect();
    (!told.is_empty()).then(|| told.join(", "))
}

fn limit_words(limit: Limit) -> String {
    match limit {
        Limit::Size(size) => format!("limit {size}"),
        Limit::Share(share) => format!("limit {:.0} % of what there is", share * 100.0),
    }
}

fn sampled_words(around: &Background) -> Option<String> {
    let interval = around
        .interval
        .map(|interval| format!("every {} s", interval.0));
    let recorder = around
        .recorder
        .as_ref()
        .map(|version| format!("by leveloff {version}"));
    let cost = around.own_cost_percent;
    let cost = cost.map(|percent| format!("at {percent:.2} % of one core"));
    let told: Vec<String> = [interval, recorder, cost].into_iter().flatten().collect();
    (!told.is_empty()).then(|| told.join(", "))
}
