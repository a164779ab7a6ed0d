//! The processes of a run, as a tree. Siblings of one role that hold alike share a line: twenty compile
//! workers are one.

use leveloff_classifier::run_analysis::ProcessAccount;
use leveloff_classifier::run_curves::Series;
use leveloff_text::number::thousands;

use crate::html::markup::Markup;
use crate::run_report::{ListedProcess, RunReport};

/// So many siblings of one role share a line …
const ALIKE: usize = 4;
/// … if the largest of them holds at most so many times what the smallest does.
const LARGEST_TO_SMALLEST: f64 = 1.5;

/// A sum of RSS that says more than this many times too much is worth a sentence.
const OVER_COUNT: f64 = 1.05;

/// Writes it; nothing when the source knows one number only.
pub fn write(report: &RunReport, page: &mut Markup) {
    if report.processes.is_empty() {
        return;
    }
    page.section("members-heading", "Who ran");
    if let Some(over_count) = over_count(report) {
        page.element("p", &over_count);
    }
    let commands = report
        .processes
        .iter()
        .any(|process| process.command().is_some());
    let mut head = vec![("", "Process")];
    head.extend(["First", "Last", "Peak", "Growth", "RSS last"].map(|name| ("n", name)));
    head.extend(commands.then_some(("command", "Command")));
    page.raw("<div class=\"members\">").table(
        "members-heading",
        "Children below their parents. Memory counts each shared page once; RSS counts it in every process \
         that maps it.",
        &head,
    );
    for siblings in alike(&report.processes) {
        match siblings {
            [process] => write_process(process, commands, page),
            siblings => write_siblings(siblings, commands, page),
        }
    }
    page.end_table().raw("</div>\n");
    if report.processes_left_out > 0 {
        let left_out = thousands(report.processes_left_out);
        let text = format!("{left_out} more were too small or too short to be listed.");
        page.element("p class=\"note\"", &text);
    }
    page.end_section();
}

/// At the highest: at the end of a run its workers are gone.
fn over_count(report: &RunReport) -> Option<String> {
    let sum = report.curves.peak(Series::RssSum)?;
    let memory = report.curves.peak(Series::Memory)?;
    (memory.0 > 0.0 && sum.0 > memory.0 * OVER_COUNT).then(|| {
        format!(
            "The run held at most {}. A sum of RSS would have been up to {}, {:.1} times as \
             much: it counts shared pages once for each process.",
            memory.bytes(),
            sum.bytes(),
            sum.0 / memory.0
        )
    })
}

/// Cuts the list where it changes; what is too few to share a line stays one by one.
fn alike(processes: &[ListedProcess]) -> Vec<&[ListedProcess]> {
    let key = |process: &ListedProcess| {
        let account = &process.account;
        (process.depth, account.role, account.is_alive)
    };
    let mut groups = Vec::new();
    let mut rest = processes;
    while let Some(first) = rest.first() {
        let same = |other: &&ListedProcess| key(other) == key(first) && hold_alike(first, other);
        let many = rest.iter().take_while(same).count();
        // The last of them may be a parent.
        let is_parent = rest.get(many).is_some_and(|next| next.depth > first.depth);
        let many = many - usize::from(is_parent);
        let many = if many >= ALIKE { many } else { 1 };
        let (group, others) = rest.split_at(many);
        groups.push(group);
        rest = others;
    }
    groups
}

/// Whether one line says enough of both: a worker that leaks needs a line of its own.
fn hold_alike(one: &ListedProcess, other: &ListedProcess) -> bool {
    let [one, other] = [one, other].map(|process| process.account.memory.peak.0 as f64);
    one.max(other) <= LARGEST_TO_SMALLEST * one.min(other)
}

fn write_process(process: &ListedProcess, commands: bool, page: &mut Markup) {
    let account = &process.account;
    write_name(process, page);
    page.raw(" <span class=\"pid\">")
        .text(&account.pid.to_string())
        .raw("</span>");
    if let Some(rank) = account.rank {
        page.raw(" <span class=\"pid\">rank ")
            .text(&rank.to_string())
            .raw("</span>");
    }
    write_exited(process, page);
    for amount in AMOUNTS.map(|amount| amount(account)) {
        page.element("td class=\"n\"", &amount);
    }
    write_command(process, commands, page);
    page.raw("</tr>\n");
}

fn write_siblings(siblings: &[ListedProcess], commands: bool, page: &mut Markup) {
    let first = &siblings[0];
    write_name(first, page);
    page.raw(" <span class=\"pid\">×")
        .text(&thousands(siblings.len() as u64))
        .raw("</span>");
    write_exited(first, page);
    for amount in AMOUNTS {
        let least = siblings.iter().min_by_key(|it| it.account.memory.peak);
        let most = siblings.iter().max_by_key(|it| it.account.memory.peak);
        let shown = [least, most].map(|it| it.map(|it| amount(&it.account)).unwrap_or_default());
        page.raw("<td class=\"n\">");
        match shown {
            [least, most] if least == most => page.text(&least),
            [least, most] => page.text(&format!("{least} … {most}")),
        };
        page.raw("<span class=\"each\">each</span></td>");
    }
    write_command(first, commands, page);
    page.raw("</tr>\n");
}

/// The columns of numbers.
const AMOUNTS: [fn(&ProcessAccount) -> String; 5] = [
    |account| account.first.to_string(),
    |account| account.memory.now.to_string(),
    |account| account.memory.peak.to_string(),
    |account| match account.is_alive {
        true => account.growth().to_string(),
        false => String::new(),
    },
    |account| account.rss.to_string(),
];

fn write_name(process: &ListedProcess, page: &mut Markup) {
    page.raw("<tr><th scope=\"row\"><span class=\"tree\" aria-hidden=\"true\">");
    for _ in 1..process.depth {
        page.raw("<i></i>");
    }
    if process.depth > 0 {
        page.raw("└ ");
    }
    page.raw("</span>").text(process.role_name());
}

fn write_exited(process: &ListedProcess, page: &mut Markup) {
    if !process.account.is_alive {
        page.raw(" <span class=\"gone\">exited</span>");
    }
    page.raw("</th>");
}

fn write_command(process: &ListedProcess, commands: bool, page: &mut Markup) {
    if !commands {
        return;
    }
    page.raw("<td class=\"command\">");
    if let Some(command) = process.command() {
        page.element("code", &command.join(" "));
    }
    if let Some(reason) = process.role_reason().filter(|reason| !reason.is_empty()) {
        page.element("span class=\"why\"", reason);
    }
    page.raw("</td>");
}
