//! One line for each rank, worst first.

use std::cmp::Reverse;

use leveloff_classifier::run_analysis::{RankAccount, RunAccount};
use leveloff_classifier::verdict::{Grade, Verdict};
use leveloff_model::process::Role;
use leveloff_model::units::Bytes;
use leveloff_text::verdict::verdict_words;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::bars::bar;
use super::since::rate_now;
use super::text::{left_aligned, padded, put, right_aligned};
use crate::dashboard::Dashboard;
use crate::run::RunState;
use crate::theme::{Paint, Styles};

/// Columns of the bar of a rank's memory.
const BAR: usize = 16;
/// Columns from which on there is room for it.
const BAR_FROM: usize = 100;

/// One rank, and what is said of its trainer.
struct RankLine {
    account: RankAccount,
    verdict: Option<Verdict>,
}

/// Draws them.
pub fn draw(dashboard: &Dashboard, styles: &Styles, area: Rect, buffer: &mut Buffer) {
    let area = padded(area);
    let run = dashboard.run();
    let Some(account) = run.account() else {
        return;
    };
    let ranks = account.ranks().into_iter();
    let mut lines: Vec<RankLine> = ranks.map(|rank| RankLine::of(run, account, rank)).collect();
    lines.sort_by_key(|line| {
        let growth = line.account.memory.growth();
        (Reverse((line.severity(), growth)), line.account.rank)
    });
    let most = lines.iter().map(|line| line.account.memory.now).max();
    let room = usize::from(area.height);
    let shown = if lines.len() > room {
        room.saturating_sub(1)
    } else {
        lines.len()
    };
    for (row, line) in lines[..shown].iter().enumerate() {
        let most = most.unwrap_or(Bytes::ZERO);
        let text = line.text(run, most, styles, usize::from(area.width));
        put(text, row, area, buffer);
    }
    if shown < lines.len() {
        let more = format!("… and {} ranks more, none worse", lines.len() - shown);
        put(
            Line::styled(more, styles.get(Paint::Faint)),
            shown,
            area,
            buffer,
        );
    }
}

impl RankLine {
    fn of(run: &RunState, all: &RunAccount, account: RankAccount) -> RankLine {
        let mut members = all.alive().filter(|one| one.rank == Some(account.rank));
        let trainer = members.find(|one| one.role == Role::Trainer);
        let judgement = trainer.and_then(|trainer| run.judgement(trainer));
        RankLine {
            account,
            verdict: judgement.map(|judgement| judgement.verdict),
        }
    }

    fn severity(&self) -> u8 {
        match self.verdict {
            Some(Verdict::Leak(Grade::Confirmed)) => 5,
            Some(Verdict::Leak(Grade::Early)) => 4,
            Some(Verdict::Leak(Grade::Suspected)) => 3,
            Some(Verdict::WarmingUp) => 2,
            Some(Verdict::Undecided) => 1,
            Some(Verdict::Level(_)) | None => 0,
        }
    }

    fn text(&self, run: &RunState, most: Bytes, styles: &Styles, columns: usize) -> Line<'static> {
        let (words, style) = self.words(run, styles);
        let memory = self.account.memory;
        let share = memory.now.0 as f64 / most.0.max(1) as f64;
        let rate = run.account().and_then(|account| rate_now(&memory, account));
        let name = left_aligned(&format!("rank {}", self.account.rank), 9);
        let mut line = Line::from_iter([
            Span::styled(name, styles.get(Paint::Strong)),
            Span::styled(left_aligned(&words, 19), style),
            Span::raw(right_aligned(&memory.now.to_string(), 9)),
        ]);
        if columns >= BAR_FROM {
            let bar = format!(" {}", left_aligned(&bar(share, BAR), BAR));
            line.push_span(Span::styled(bar, styles.get(Paint::Accent)));
        }
        line.push_span(Span::raw(right_aligned(&memory.growth().to_string(), 10)));
        line.push_span(Span::raw(right_aligned(&rate.unwrap_or_default(), 15)));
        let processes = format!("  {} processes", self.account.processes);
        line.push_span(Span::styled(processes, styles.get(Paint::Faint)));
        line
    }

    /// Of several trainers, only one that stands out from its siblings is judged on its own.
    fn words(&self, run: &RunState, styles: &Styles) -> (String, Style) {
        match (self.verdict, run.verdict()) {
            (Some(verdict), _) => (
                verdict_words(verdict).to_owned(),
                styles.get(Paint::from(verdict)).bold(),
            ),
            (None, Some(of_run)) if of_run.verdict.is_level() => (
                verdict_words(of_run.verdict).to_owned(),
                styles.get(Paint::Good),
            ),
            (None, Some(_)) => ("does not stand out".to_owned(), styles.get(Paint::Faint)),
            (None, None) => ("not judged yet".to_owned(), styles.get(Paint::Faint)),
        }
    }
}
