//! Whole screens, from made-up ticks through the state to the cells of a terminal.
//!
//! The verdicts in them are real: the ticks go through the same judge as those of a run.

#![allow(
    clippy::unwrap_used,
    reason = "a test may fail by panicking, in its functions as well"
)]

mod any_size;
mod cases;
mod colours;
mod ends_and_growth;
mod fleet;
mod pages;
mod simulated_run;

use leveloff_dashboard::dashboard::Dashboard;
use leveloff_dashboard::draw::draw;
use leveloff_dashboard::event::Event;
use leveloff_dashboard::theme::Styles;
use ratatui::Terminal;
use ratatui::backend::TestBackend;

/// Columns and rows: the least, the usual, a window, a whole screen.
const SIZES: [(u16, u16); 4] = [(62, 16), (80, 24), (120, 40), (200, 60)];

/// Compares the screen with the one that was looked at and found good, at every size.
fn check(case: &str, mut dashboard: Dashboard) {
    for size in SIZES {
        let name = format!("{case}_{}x{}", size.0, size.1);
        insta::assert_snapshot!(name, screen(&mut dashboard, &Styles::default(), size));
    }
}

/// What a terminal of this size shows.
fn screen(dashboard: &mut Dashboard, styles: &Styles, size: (u16, u16)) -> TestBackend {
    dashboard.on(Event::Resized(size.0, size.1));
    dashboard.settle();
    shown(dashboard, styles, size)
}

/// The same without telling the dashboard of the size.
fn shown(dashboard: &Dashboard, styles: &Styles, size: (u16, u16)) -> TestBackend {
    let mut terminal = Terminal::new(TestBackend::new(size.0, size.1)).unwrap();
    terminal
        .draw(|frame| draw(dashboard, styles, frame))
        .unwrap();
    terminal.backend().clone()
}
