//! One line for each rank, worst first.

use leveloff_classifier::verdict::{Grade, Judgement, Verdict};
use leveloff_model::process::{Rank, Role};
use leveloff_model::units::{ByteDelta, Bytes};
use leveloff_text::verdict::verdict_words;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::bars::bar;
use super::since::stretch;
use super::text::{left_aligned, padded, put, right_aligned};
use crate::dashboard::Dashboard;
use crate::run::RunState;
use crate::table;
use crate::theme::{Look, Paint};

/// Columns of the bar of a rank's memory.
const BAR: usize = 16;
/// Columns from which on there is room for it.
const BAR_FROM: usize = 100;

/// What is known of one rank.
struct RankLine {
    rank: Rank,
    verdict: Option<Verdict>,
    memory: Bytes,
    growth: ByteDelta,
    processes: usize,
}

/// Draws them.
pub fn draw(dashboard: &Dashboard, look: &Look, area: Rect, buffer: &mut Buffer) {
    let area = padded(area);
    let run = dashboard.run();
    let mut lines: Vec<RankLine> = table::ranks(run)
        .into_iter()
        .map(|rank| RankLine::of(run, rank))
        .collect();
    lines.sort_by_key(|line| (std::cmp::Reverse((line.severity(), line.growth)), line.rank));
    let most = lines.iter().map(|line| line.memory).max();
    let room = usize::from(area.height);
    let shown = if lines.len() > room {
        room.saturating_sub(1)
    } else {
        lines.len()
    };
    for (row, line) in lines[..shown].iter().enumerate() {
        let most = most.unwrap_or(Bytes::ZERO);
        let text = line.text(run, most, look, usize::from(area.width));
        put(text, row, area, buffer);
    }
    if shown < lines.len() {
        let more = format!("… and {} ranks more, none worse", lines.len() - shown);
        put(
            Line::styled(more, look.style(Paint::Faint)),
            shown,
            area,
            buffer,
        );
    }
}

impl RankLine {
    fn of(run: &RunState, rank: Rank) -> RankLine {
        let shares = || run.shares().iter().filter(|it| it.rank == Some(rank));
        let trainer = shares().find(|share| share.role == Role::Trainer);
        let judgement: Option<&Judgement> =
            trainer.and_then(|share| table::judgement(run, share.index));
        let growth = |share| run.marker().map_or(ByteDelta(0), |it| it.process(share));
        RankLine {
            rank,
            verdict: judgement.map(|judgement| judgement.verdict),
            memory: shares().map(|share| share.memory).sum(),
            growth: shares().map(growth).fold(ByteDelta(0), |sum, by| sum + by),
            processes: shares().count(),
        }
    }

    fn severity(&self) -> u8 {
        match self.verdict {
            Some(Verdict::Leak(Grade::Confirmed)) => 4,
            Some(Verdict::Leak(Grade::Early)) => 3,
            Some(Verdict::WarmingUp) => 2,
            Some(Verdict::Undecided) => 1,
            Some(Verdict::Level) | None => 0,
        }
    }

    fn text(&self, run: &RunState, most: Bytes, look: &Look, columns: usize) -> Line<'static> {
        let (words, style) = self.words(run, look);
        let share = self.memory.0 as f64 / most.0.max(1) as f64;
        let rate = stretch(run).rate(self.growth).unwrap_or_default();
        let name = left_aligned(&format!("rank {}", self.rank), 9);
        let mut line = Line::from_iter([
            Span::styled(name, look.style(Paint::Strong)),
            Span::styled(left_aligned(&words, 19), style),
            Span::raw(right_aligned(&self.memory.to_string(), 9)),
        ]);
        if columns >= BAR_FROM {
            let bar = format!(" {}", left_aligned(&bar(share, BAR), BAR));
            line.push_span(Span::styled(bar, look.style(Paint::Accent)));
        }
        line.push_span(Span::raw(right_aligned(&self.growth.to_string(), 10)));
        line.push_span(Span::raw(right_aligned(&rate, 15)));
        let processes = format!("  {} processes", self.processes);
        line.push_span(Span::styled(processes, look.style(Paint::Faint)));
        line
    }

    /// Of several trainers, only one that stands out from its siblings is judged on its own.
    fn words(&self, run: &RunState, look: &Look) -> (String, Style) {
        match (self.verdict, run.verdict()) {
            (Some(verdict), _) => (
                verdict_words(verdict).to_owned(),
                look.style(Paint::from(verdict)).bold(),
            ),
            (None, Some(of_run)) if of_run.verdict == Verdict::Level => (
                verdict_words(Verdict::Level).to_owned(),
                look.style(Paint::Good),
            ),
            (None, Some(_)) => ("does not stand out".to_owned(), look.style(Paint::Faint)),
            (None, None) => ("not judged yet".to_owned(), look.style(Paint::Faint)),
        }
    }
}
