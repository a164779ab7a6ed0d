//! The page of one process: its role, its memory, and what is said of it.

mod kinds;

use leveloff_classifier::observation::ProcessShare;
use leveloff_classifier::run_analysis::{ProcessAccount, RunAccount};
use leveloff_classifier::verdict::Judgement;
use leveloff_model::process::{ProcessIndex, ProcessInfo, ProcessState};
use leveloff_model::sample::{ProcessReading, Sample};
use leveloff_model::units::Seconds;
use leveloff_text::rate::MemoryRate;
use leveloff_text::since::since_words;
use leveloff_text::verdict::verdict_words;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::bars::tall_sparkline;
use super::boxed;
use super::since::{clock, rate_now};
use super::text::{left_aligned, put, wrapped};
use crate::dashboard::Dashboard;
use crate::run::RunState;
use crate::theme::{Paint, Styles};

/// Columns of the labels.
const LABEL: usize = 10;
/// Lines that a long text may take.
const LINES_MOST: usize = 4;
/// Rows of the curve at least and at most.
const CURVE: (usize, usize) = (2, 20);

/// Everything that is known of the process.
struct ProcessPage<'a> {
    run: &'a RunState,
    account: &'a RunAccount,
    process: &'a ProcessAccount,
    info: &'a ProcessInfo,
    sample: &'a Sample,
    reading: &'a ProcessReading,
    share: &'a ProcessShare,
}

/// Draws it.
pub fn draw(
    dashboard: &Dashboard,
    index: ProcessIndex,
    styles: &Styles,
    area: Rect,
    buffer: &mut Buffer,
) {
    let Some(page) = ProcessPage::of(dashboard.run(), index) else {
        let title = Line::styled(" PROCESS ", styles.badge(Paint::Unsure));
        let inner = boxed(title, Paint::Unsure, styles, area, buffer);
        put("the process has exited; esc goes back", 0, inner, buffer);
        return;
    };
    let judgement = page.run.judgement(page.process);
    let paint = judgement.map_or(Paint::Accent, |it| Paint::from(it.verdict));
    let inner = boxed(page.title(styles, paint), paint, styles, area, buffer);
    let mut lines = page.lines(judgement, styles, usize::from(inner.width));
    lines.extend(kinds::lines(&page, styles, usize::from(inner.width)));
    let taken = lines.len();
    for (row, line) in lines.into_iter().enumerate() {
        put(line, row, inner, buffer);
    }
    draw_curve(&page, taken, styles, inner, buffer);
}

/// Its memory over its life, below everything, if there is room.
fn draw_curve(page: &ProcessPage, taken: usize, styles: &Styles, area: Rect, buffer: &mut Buffer) {
    let room = usize::from(area.height).saturating_sub(taken + 1);
    if room < CURVE.0 {
        return;
    }
    let columns = usize::from(area.width).saturating_sub(LABEL);
    let points = stretched(&page.process.trend, columns);
    let most = points.iter().copied().fold(0.0, f64::max);
    let most = leveloff_text::verdict::bytes(most).to_string();
    let rows = tall_sparkline(&points, room.min(CURVE.1));
    for (row, text) in rows.into_iter().enumerate() {
        let label = match row {
            0 => format!("{most:>8}  "),
            _ => " ".repeat(LABEL),
        };
        let line = Line::from_iter([
            Span::styled(label, styles.get(Paint::Faint)),
            Span::styled(text, styles.get(Paint::Accent)),
        ]);
        put(line, taken + 1 + row, area, buffer);
    }
}

/// The same points over so many columns.
fn stretched(points: &[f64], columns: usize) -> Vec<f64> {
    (0..columns)
        .filter_map(|column| points.get(column * points.len() / columns))
        .copied()
        .collect()
}

impl<'a> ProcessPage<'a> {
    fn of(run: &'a RunState, index: ProcessIndex) -> Option<ProcessPage<'a>> {
        let sample = run.sample()?;
        Some(ProcessPage {
            run,
            account: run.account()?,
            process: run.process(index)?,
            info: run.info(index)?,
            sample,
            reading: sample.processes.iter().find(|it| it.process == index)?,
            share: run.share(index)?,
        })
    }

    fn title(&self, styles: &Styles, paint: Paint) -> Line<'static> {
        let info = self.info;
        let name = format!(" {} {} ", info.role_name().to_uppercase(), info.key.pid);
        let rank = info
            .rank
            .map_or_else(String::new, |rank| format!("rank {rank}, "));
        let rest = format!(" {rank}{} ", info.comm);
        Line::from_iter([
            Span::styled(name, styles.badge(paint)),
            Span::styled(rest, styles.get(paint)),
        ])
    }

    fn lines(
        &self,
        judgement: Option<&Judgement>,
        styles: &Styles,
        columns: usize,
    ) -> Vec<Line<'static>> {
        let info = self.info;
        let strong = styles.get(Paint::Strong);
        let plain = styles.get(Paint::Plain);
        let faint = styles.get(Paint::Faint);
        let (verdict, paint) = self.verdict(judgement);
        let rows = [
            ("verdict", verdict, styles.get(paint)),
            ("memory", self.memory(), strong),
            ("growth", self.growth(), plain),
            ("uses", self.uses(), plain),
            ("role", format!("{}: {}", info.role_name(), info.why), plain),
            ("seen", self.seen(), plain),
            ("command", info.command.join(" "), faint),
        ];
        let rows = rows.into_iter();
        rows.flat_map(|(label, text, style)| labelled(label, &text, style, styles, columns))
            .collect()
    }

    /// Of processes of one role, only one that stands out from its siblings is judged on its own.
    fn verdict(&self, judgement: Option<&Judgement>) -> (String, Paint) {
        let Some((judgement, of_run)) = judgement.zip(self.run.verdict()) else {
            let why = "not judged on its own: it does not stand out from others of its role";
            return (why.to_owned(), Paint::Faint);
        };
        let words = verdict_words(judgement.verdict);
        let rate = judgement.rate.map_or_else(String::new, |rate| {
            let rate = MemoryRate::new(rate, of_run.x_unit).with_interval();
            format!(", {rate}")
        });
        (format!("{words}{rate}"), Paint::from(judgement.verdict))
    }

    fn memory(&self) -> String {
        let (memory, rss) = (self.process.memory.now, self.process.rss);
        match &self.reading.pss {
            Some(pss) => {
                let age = age(self.sample.t, pss.at);
                let private = pss.private;
                format!("{memory} · private {private} · RSS {rss} · PSS read {age} ago")
            }
            None => format!("about {memory} · RSS {rss} · PSS was not read yet"),
        }
    }

    fn growth(&self) -> String {
        let memory = &self.process.memory;
        let rate = rate_now(memory, self.account);
        let rate = rate.map_or_else(String::new, |rate| format!(", now {rate}"));
        let since = since_words(self.account);
        format!("{} since {since}{rate}", memory.growth())
    }

    fn uses(&self) -> String {
        let reading = self.reading;
        let descriptors = reading.fds.map_or_else(
            || "descriptors not readable".to_owned(),
            |fds| format!("{fds} descriptors"),
        );
        let cpu = self.process.cpu_percent;
        let cpu = cpu.map(|percent| format!("{percent:.0} % CPU"));
        let gpu = reading.gpu.map(|gpu| format!("{gpu} on the GPU"));
        let threads = format!("{} threads", reading.threads);
        let parts = [Some(descriptors), Some(threads), cpu, gpu];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        parts.join(" · ")
    }

    fn seen(&self) -> String {
        let info = self.info;
        let since = self.process.seen.map_or(Seconds(0.0), |(first, _)| first);
        let state = match self.reading.state {
            ProcessState::Zombie => ", ended but not waited for",
            ProcessState::Stopped => ", stopped",
            ProcessState::DiskSleep => ", waits for a device",
            _ => "",
        };
        format!("since {}, child of {}{state}", clock(since), info.parent)
    }
}

/// How long ago, in whole seconds.
fn age(now: Seconds, then: Seconds) -> Seconds {
    Seconds((now - then).0.round())
}

/// A label, and text that is wrapped beside it.
fn labelled(
    label: &str,
    text: &str,
    style: Style,
    styles: &Styles,
    columns: usize,
) -> Vec<Line<'static>> {
    let mut lines = wrapped(text, columns.saturating_sub(LABEL));
    if lines.len() > LINES_MOST {
        lines.truncate(LINES_MOST);
        if let Some(last) = lines.last_mut() {
            last.push_str(" …");
        }
    }
    let labels = std::iter::once(label).chain(std::iter::repeat(""));
    let line = |(text, label): (String, &str)| {
        Line::from_iter([
            Span::styled(left_aligned(label, LABEL), styles.get(Paint::Heading)),
            Span::styled(text, style),
        ])
    };
    lines.into_iter().zip(labels).map(line).collect()
}
