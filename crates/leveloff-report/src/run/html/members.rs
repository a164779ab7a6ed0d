//! Who ran, as a tree. Brothers that are alike are told once: twenty compile workers are one line.

use leveloff_classifier::run_curves::Series;
use leveloff_model::units::Bytes;
use leveloff_text::number::thousands;
use leveloff_text::verdict::bytes;

use crate::html::markup::Markup;
use crate::run_report::{Member, RunReport};

/// So many brothers of one role are told as one.
const ALIKE: usize = 4;

/// A sum of RSS that says more than this many times too much is worth a sentence.
const OVER_COUNT: f64 = 1.05;

/// Writes it; nothing when the source knows one number only.
pub fn write(report: &RunReport, page: &mut Markup) {
    if report.members.is_empty() {
        return;
    }
    page.section("members-heading", "Who ran");
    if let Some(over_count) = over_count(report) {
        page.element("p", &over_count);
    }
    let commands = report.members.iter().any(|member| member.command.is_some());
    let mut head = vec![("", "Process")];
    head.extend(["First", "Last", "Peak", "RSS last"].map(|name| ("n", name)));
    head.extend(commands.then_some(("command", "Command")));
    page.raw("<div class=\"members\">").table(
        "members-heading",
        "Children below their parents. Memory counts each shared page once; RSS counts it in every process \
         that maps it.",
        &head,
    );
    for brothers in alike(&report.members) {
        match brothers {
            [member] => write_member(member, commands, page),
            brothers => write_brothers(brothers, commands, page),
        }
    }
    page.end_table().raw("</div>\n");
    if report.members_left_out > 0 {
        let left_out = thousands(report.members_left_out);
        let text = format!("{left_out} more were too small or too short to be listed.");
        page.element("p class=\"note\"", &text);
    }
    page.end_section();
}

/// At their highest, for in the end of a run its workers are gone.
fn over_count(report: &RunReport) -> Option<String> {
    let sum = report.curves.peak(Series::RssSum)?;
    let memory = report.curves.peak(Series::Memory)?;
    (memory > 0.0 && sum > memory * OVER_COUNT).then(|| {
        format!(
            "The run really held {} at most. A sum of RSS would have said up to {}, {:.1} times as \
             much: it counts shared pages once for each process.",
            bytes(memory),
            bytes(sum),
            sum / memory
        )
    })
}

/// Cuts the list where it changes; what is too few to be summed up stays one by one.
fn alike(members: &[Member]) -> Vec<&[Member]> {
    let same =
        |a: &Member, b: &Member| (a.depth, a.role, a.is_there) == (b.depth, b.role, b.is_there);
    let mut groups = Vec::new();
    let mut rest = members;
    while let Some(first) = rest.first() {
        let many = rest.iter().take_while(|member| same(first, member)).count();
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

fn write_member(member: &Member, commands: bool, page: &mut Markup) {
    write_name(member, page);
    page.raw(" <span class=\"pid\">")
        .text(&member.pid.to_string())
        .raw("</span>");
    if let Some(rank) = member.rank {
        page.raw(" <span class=\"pid\">rank ")
            .text(&rank.to_string())
            .raw("</span>");
    }
    if !member.is_there {
        page.raw(" <span class=\"gone\">ended</span>");
    }
    page.raw("</th>");
    for amount in [member.first, member.newest, member.peak, member.rss] {
        page.element("td class=\"n\"", &amount.to_string());
    }
    if commands {
        page.raw("<td class=\"command\">");
        write_command(member, page);
        page.raw("</td>");
    }
    page.raw("</tr>\n");
}

fn write_brothers(brothers: &[Member], commands: bool, page: &mut Markup) {
    let (first, many) = (&brothers[0], brothers.len() as u64);
    write_name(first, page);
    page.raw(" <span class=\"pid\">×")
        .text(&thousands(many))
        .raw("</span>");
    if !first.is_there {
        page.raw(" <span class=\"gone\">ended</span>");
    }
    page.raw("</th>");
    let columns: [fn(&Member) -> Bytes; 4] = [
        |member| member.first,
        |member| member.newest,
        |member| member.peak,
        |member| member.rss,
    ];
    for column in columns {
        let sum: Bytes = brothers.iter().map(column).sum();
        page.raw("<td class=\"n\">").text(&sum.to_string());
        let each = Bytes(sum.0 / many);
        page.raw("<span class=\"each\">")
            .text(&format!("{each} each"))
            .raw("</span></td>");
    }
    if commands {
        page.raw("<td class=\"command\">");
        write_command(first, page);
        page.raw("</td>");
    }
    page.raw("</tr>\n");
}

fn write_name(member: &Member, page: &mut Markup) {
    page.raw("<tr><th scope=\"row\"><span class=\"tree\" aria-hidden=\"true\">");
    for _ in 1..member.depth {
        page.raw("<i></i>");
    }
    if member.depth > 0 {
        page.raw("└ ");
    }
    page.raw("</span>").text(member.role.name());
}

fn write_command(member: &Member, page: &mut Markup) {
    let command = member.command.as_ref().map(|words| words.join(" "));
    if let Some(command) = &command {
        page.element("code", command);
    }
    if let Some(why) = member.why.as_deref().filter(|why| !why.is_empty()) {
        page.element("span class=\"why\"", why);
    }
}
