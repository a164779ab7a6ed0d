//! Prints the chart of made-up runs, to look at: `cargo run -p leveloff-dashboard --example chart`.
//!
//! `-- 120 30` is the size, `-- 120 30 ascii` without Unicode, `-- 120 30 plain` without colour.

#[path = "made_up/ticks.rs"]
#[allow(dead_code, reason = "shared with the benchmark and the tests")]
mod ticks;

use crossterm::style::{Attribute, ContentStyle, StyledContent};
use leveloff_dashboard::chart;
use leveloff_dashboard::dashboard::Dashboard;
use leveloff_dashboard::event::{Event, Subject};
use leveloff_dashboard::theme::{Charset, Styles, Theme};
use leveloff_model::progress::MarkKind;
use leveloff_model::recording::StatedFacts;
use leveloff_model::units::Step;
use leveloff_text::verdict::brief;
use ratatui::backend::IntoCrossterm;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};

use self::ticks::{GIB, MIB, MadeUpRun};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| arguments.get(at).and_then(|text| text.parse().ok());
    let area = Rect::new(0, 0, number(0).unwrap_or(80), number(1).unwrap_or(11));
    let (theme, charset) = match arguments.get(2).map(String::as_str) {
        Some("ascii") => (Theme::None, Charset::Ascii),
        Some("plain") => (Theme::None, Charset::Unicode),
        _ => (Theme::Dark, Charset::Unicode),
    };
    let styles = Styles { theme, charset };
    for (name, dashboard) in [
        ("the story at step 80", story(80, None)),
        ("the story at step 80, level-by 90", story(80, Some(90))),
        ("the story at step 300", story(300, None)),
        ("a leak", leak(900)),
        ("a leak whose end is near", leak(8000)),
        ("a sawtooth", sawtooth()),
        ("compile workers", workers()),
        ("a machine that slept, and a marker", slept()),
    ] {
        let mut buffer = Buffer::empty(area);
        chart::draw(&dashboard, &styles, area, &mut buffer);
        let verdict = dashboard.run().verdict().map(brief);
        println!("--- {name}: {}", verdict.unwrap_or_default());
        print(&buffer);
    }
}

fn dashboard(stated: &StatedFacts) -> Dashboard {
    Dashboard::new(Subject::default(), stated, (80, 24))
}

/// Noise that is the same every time: a share between -1 and 1.
fn noise(n: u64) -> f64 {
    let mixed = n.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 40) as f64 / f64::from(1 << 23) - 1.0
}

/// Host memory in MB at steps 10, 20 … of the run that explains every requirement.
fn story(steps: u64, level_by: Option<u64>) -> Dashboard {
    let known = [5552, 7159, 8851, 10375, 12000, 13757, 15559, 17412];
    let mut dashboard = dashboard(&StatedFacts {
        level_by: level_by.map(Step),
        ..StatedFacts::default()
    });
    let mut run = MadeUpRun::with_limit(32.0 * GIB);
    for (i, step) in (10..=steps).step_by(10).enumerate() {
        let t = step as f64 * 9.4;
        if step.is_multiple_of(70) {
            run.evaluation(t, step);
        }
        let level = 17_800.0 + 150.0 * noise(step);
        let memory = known.get(i).map_or(level, |&known| f64::from(known));
        let tick = run.tick(t, Some(step), memory * MIB);
        dashboard.on(Event::Tick(Box::new(tick)));
    }
    dashboard.settle();
    dashboard
}

fn leak(steps: u64) -> Dashboard {
    let mut dashboard = dashboard(&StatedFacts::default());
    let mut run = MadeUpRun::with_limit(24.0 * GIB);
    for step in 1..=steps {
        let t = step as f64;
        if step.is_multiple_of(steps / 4) {
            run.mark(t, step, MarkKind::Epoch(step));
            run.mark(t, step - 1, MarkKind::Event("checkpoint".to_owned()));
        }
        if step.is_multiple_of(50) {
            run.evaluation(t, step);
        }
        let memory = 4.6 * GIB + (2.06 * step as f64 + 60.0 * noise(step)) * MIB;
        let tick = run.tick(t, Some(step), memory);
        dashboard.on(Event::Tick(Box::new(tick)));
    }
    dashboard.settle();
    dashboard
}

fn sawtooth() -> Dashboard {
    let mut dashboard = dashboard(&StatedFacts::default());
    let mut run = MadeUpRun::with_limit(32.0 * GIB);
    for step in 1..=600u64 {
        let memory = 540.0 + (step % 50) as f64 * 4.0 + 6.0 * noise(step);
        let tick = run.tick(step as f64, Some(step), memory * MIB);
        dashboard.on(Event::Tick(Box::new(tick)));
    }
    dashboard.settle();
    dashboard
}

fn workers() -> Dashboard {
    let mut dashboard = dashboard(&StatedFacts::default());
    let mut run = MadeUpRun::with_workers(20);
    for step in 1..=150u64 {
        let memory = 1500.0 + 800.0 * (1.0 - (step as f64 / -20.0).exp()) + 8.0 * noise(step);
        let tick = run.tick(step as f64, Some(step), memory * MIB);
        dashboard.on(Event::Tick(Box::new(tick)));
    }
    dashboard.settle();
    dashboard
}

fn slept() -> Dashboard {
    let mut dashboard = dashboard(&StatedFacts::default());
    let mut run = MadeUpRun::default();
    for second in 0..700u64 {
        let t = second as f64 + if second > 300 { 400.0 } else { 0.0 };
        let spike = if second == 600 { 900.0 } else { 0.0 };
        let tick = run.tick(t, None, (2200.0 + 30.0 * noise(second) + spike) * MIB);
        dashboard.on(Event::Tick(Box::new(tick)));
        if second == 450 {
            let key = crossterm::event::KeyCode::Char('m').into();
            dashboard.on(Event::Key(key));
        }
    }
    dashboard.settle();
    dashboard
}

fn print(buffer: &Buffer) {
    for row in buffer.content.chunks(buffer.area.width.into()) {
        for cell in row {
            if (cell.fg, cell.modifier) == (Color::Reset, Modifier::empty()) {
                print!("{}", cell.symbol());
                continue;
            }
            let mut style = ContentStyle {
                foreground_color: Some(cell.fg.into_crossterm()),
                ..ContentStyle::default()
            };
            if cell.modifier.contains(Modifier::BOLD) {
                style.attributes.set(Attribute::Bold);
            }
            print!("{}", StyledContent::new(style, cell.symbol()));
        }
        println!();
    }
}
