//! What a frame and a sample cost after a million samples of a tree of 21 processes:
//! `cargo bench -p leveloff-dashboard --bench draw`.
//!
//! A frame must stay far below 16 ms, and a sample a second far below 2 % of a core.

#[path = "../tests/made_up/ticks.rs"]
#[allow(dead_code, reason = "shared with the example and the tests")]
mod ticks;

use std::sync::LazyLock;

use crossterm::event::KeyCode;
use divan::Bencher;
use leveloff_dashboard::chart;
use leveloff_dashboard::dashboard::Dashboard;
use leveloff_dashboard::draw;
use leveloff_dashboard::event::{Event, Subject};
use leveloff_dashboard::history::{Axis, CurvePoint, History};
use leveloff_dashboard::theme::{Charset, Styles, Theme};
use leveloff_model::recording::StatedFacts;
use leveloff_model::sample::Tick;
use leveloff_model::units::Seconds;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use self::ticks::{MIB, MadeUpRun};

const SAMPLES: u64 = 1_000_000;
const WORKERS: u32 = 20;
const SIZES: [(u16, u16); 3] = [(80, 9), (120, 20), (200, 60)];

fn main() {
    divan::main();
}

/// A week of a run with an evaluation every thousand steps, seen once for all benchmarks.
static WEEK: LazyLock<(MadeUpRun, Dashboard)> = LazyLock::new(|| {
    let mut run = MadeUpRun::with_workers(WORKERS);
    run.limit = Some(64.0 * 1024.0 * MIB);
    let mut dashboard = Dashboard::new(Subject::default(), &StatedFacts::default(), (200, 60));
    for i in 0..SAMPLES {
        if i.is_multiple_of(1000) {
            run.evaluation(i as f64, i / 2);
        }
        let tick = tick(&mut run, i);
        dashboard.on(Event::Tick(Box::new(tick)));
    }
    dashboard.settle();
    (run, dashboard)
});

/// A slow leak under a sawtooth.
fn memory(i: u64) -> f64 {
    (4000.0 + i as f64 / 100.0 + (i % 300) as f64) * MIB
}

fn tick(run: &mut MadeUpRun, i: u64) -> Tick {
    run.tick(i as f64, Some(i / 2), memory(i))
}

/// The whole run.
#[divan::bench(args = SIZES)]
fn whole_run(bencher: Bencher<'_, '_>, size: (u16, u16)) {
    bench_chart(bencher, &WEEK.1, size);
}

/// The whole run over time: a verdict in steps has to be found there.
#[divan::bench]
fn whole_run_over_time(bencher: Bencher<'_, '_>) {
    let mut dashboard = WEEK.1.clone();
    dashboard.on(Event::Key(KeyCode::Char('x').into()));
    bench_chart(bencher, &dashboard, (200, 60));
}

/// A small part of it.
#[divan::bench]
fn zoomed_in(bencher: Bencher<'_, '_>) {
    let mut dashboard = WEEK.1.clone();
    for _ in 0..8 {
        dashboard.on(Event::Key(KeyCode::Char('+').into()));
    }
    bench_chart(bencher, &dashboard, (200, 60));
}

/// All of the screen, not the curve alone.
#[divan::bench(args = [(80, 24), (200, 60)])]
fn whole_screen(bencher: Bencher<'_, '_>, (width, height): (u16, u16)) {
    let mut dashboard = WEEK.1.clone();
    dashboard.on(Event::Resized(width, height));
    let backend = TestBackend::new(width, height);
    let mut terminal = Terminal::new(backend).expect("a terminal in memory");
    bencher.bench_local(|| {
        let drawn = terminal.draw(|frame| draw::draw(&dashboard, &Styles::default(), frame));
        drawn.expect("memory can be written").count
    });
}

#[divan::bench]
fn ascii(bencher: Bencher<'_, '_>) {
    bench(bencher, &WEEK.1, (200, 60), Charset::Ascii);
}

fn bench_chart(bencher: Bencher<'_, '_>, dashboard: &Dashboard, size: (u16, u16)) {
    bench(bencher, dashboard, size, Charset::Unicode);
}

fn bench(
    bencher: Bencher<'_, '_>,
    dashboard: &Dashboard,
    (width, height): (u16, u16),
    charset: Charset,
) {
    let area = Rect::new(0, 0, width, height);
    let styles = Styles {
        theme: Theme::None,
        charset,
    };
    let mut buffer = Buffer::empty(area);
    bencher.bench_local(|| {
        buffer.reset();
        chart::draw(dashboard, &styles, area, &mut buffer);
    });
}

/// The next sample of the week, without a verdict.
#[divan::bench]
fn take(bencher: Bencher<'_, '_>) {
    let (mut run, mut dashboard) = WEEK.clone();
    let mut i = SAMPLES;
    bencher.bench_local(|| {
        i += 1;
        dashboard.on(Event::Tick(Box::new(tick(&mut run, i))));
    });
}

/// The next sample and the verdict on all of them.
#[divan::bench]
fn take_and_settle(bencher: Bencher<'_, '_>) {
    let (mut run, mut dashboard) = WEEK.clone();
    let mut i = SAMPLES;
    bencher.bench_local(|| {
        i += 1;
        dashboard.on(Event::Tick(Box::new(tick(&mut run, i))));
        dashboard.settle();
    });
}

/// What the history alone does with a sample.
#[divan::bench]
fn history_push(bencher: Bencher<'_, '_>) {
    let mut history = History::default();
    let mut i = 0;
    bencher.bench_local(|| {
        i += 1;
        history.push(CurvePoint {
            t: Seconds(i as f64),
            step: Some((i / 2) as f64),
            memory: memory(i),
            rss: memory(i),
        });
    });
}

/// What the history alone costs a frame.
#[divan::bench]
fn history_columns(bencher: Bencher<'_, '_>) {
    let history = &WEEK.1.run().history;
    let range = 0.0..(SAMPLES / 2) as f64;
    bencher.bench_local(|| history.columns(Axis::Steps, &range, 400));
}
