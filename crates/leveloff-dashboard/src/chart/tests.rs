//! Whole charts, of made-up runs.

#[path = "../../tests/made_up/ticks.rs"]
#[allow(dead_code, reason = "shared with the example and the benchmark")]
mod ticks;

use crossterm::event::KeyCode;
use leveloff_model::progress::MarkKind;
use leveloff_model::recording::StatedFacts;
use leveloff_model::units::Step;

use self::ticks::{GIB, MIB, MadeUpRun};
use super::*;
use crate::event::{Event, Subject};
use crate::theme::{Charset, Theme};
use crate::view::Window;

/// A dashboard that saw these: seconds, step, memory in bytes.
fn seen(mut run: MadeUpRun, samples: &[(f64, Option<u64>, f64)]) -> Dashboard {
    let mut dashboard = Dashboard::new(Subject::default(), &StatedFacts::default(), (80, 24));
    take(&mut dashboard, &mut run, samples);
    dashboard
}

fn take(dashboard: &mut Dashboard, run: &mut MadeUpRun, samples: &[(f64, Option<u64>, f64)]) {
    for &(t, step, memory) in samples {
        dashboard.on(Event::Tick(Box::new(run.tick(t, step, memory))));
    }
    dashboard.settle();
}

/// A step each ten seconds.
fn by_step(
    steps: impl Iterator<Item = u64>,
    memory: impl Fn(u64) -> f64,
) -> Vec<(f64, Option<u64>, f64)> {
    steps
        .map(|step| (step as f64 * 10.0, Some(step), memory(step)))
        .collect()
}

fn growth(step: u64) -> f64 {
    (4000.0 + 150.0 * step as f64) * MIB
}

fn drawn_with(dashboard: &Dashboard, charset: Charset, width: u16, height: u16) -> Vec<String> {
    let area = Rect::new(0, 0, width, height);
    let mut buffer = Buffer::empty(area);
    let styles = Styles {
        theme: Theme::None,
        charset,
    };
    draw(dashboard, &styles, area, &mut buffer);
    lines(&buffer)
}

fn drawn(dashboard: &Dashboard, width: u16, height: u16) -> Vec<String> {
    drawn_with(dashboard, Charset::Unicode, width, height)
}

#[test]
fn growth_is_led_on_to_the_limit() {
    let samples = by_step((1..=80).step_by(2), growth);
    let dashboard = seen(MadeUpRun::with_limit(24.0 * GIB), &samples);
    insta::assert_snapshot!(drawn(&dashboard, 72, 11).join("\n"), @r"
    GiB                                             ┊ often level by 90
      24  limit 24.0 GiB ┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄ step 137 ⡀⢀┄⠄⠠╳┄
                                                    ┊      ⡀⢀ ⠄⠐ ⠂⠁⠈
      16                                        ⢀ ⡀⠠┊⠂⠐ ⠁⠈
                                     ⣀⣀⡠⠤⠤⠒⠒⠒⠉⠉⠁    ┊
                          ⣀⣀⣠⠤⠤⠔⠒⠒⠋⠉⠉               ┊
       8       ⢀⣀⣀⡠⠤⠤⠒⠒⠒⠉⠉⠁                         ┊
         ⠤⠖⠒⠒⠉⠉⠁                                    ┊
       0                                            ┊
         ─────────┬────────┬─────────┬─────────┬────────┬─────────┬─────────
    step          20       40        60        80      100       120
    ");
}

#[test]
fn growth_meets_the_limit_where_the_verdict_says() {
    let samples = by_step(1..=80, growth);
    let dashboard = seen(MadeUpRun::with_limit(24.0 * GIB), &samples);
    let content = ChartContent::of(&dashboard).unwrap();
    let risk = dashboard.run().verdict().unwrap().risk.unwrap();
    // 24 GiB are 20,576 MiB more than at the beginning, at 150 each step.
    assert!((risk.at_x.0 - 137.2).abs() < 1.0, "{risk:?}");
    let chart = drawn(&dashboard, 100, 20);
    let row = chart.iter().find(|row| row.contains("limit 24.0 GiB"));
    let cross = row.unwrap().chars().position(|glyph| glyph == '╳').unwrap();
    let share = (cross as f64 + 0.5 - 5.0) / 95.0;
    let x = content.range.start + share * (content.range.end - content.range.start);
    assert!((x - risk.at_x.0).abs() < 1.0, "{x} {risk:?}");
    assert!(row.unwrap().contains("step 137"), "{chart:#?}");
    // The same over time, of which ten seconds are a step.
    let mut by_time = dashboard.clone();
    by_time.on(Event::Key(KeyCode::Char('x').into()));
    let crossing = ChartContent::of(&by_time)
        .unwrap()
        .outlook
        .forecast
        .unwrap();
    let met_at = crossing.crossing.unwrap().x;
    assert!((met_at - 10.0 * risk.at_x.0).abs() < 10.0, "{met_at}");
    let chart = drawn(&by_time, 100, 20);
    let row = chart.iter().find(|row| row.contains("limit 24.0 GiB"));
    let same = row.unwrap().chars().position(|glyph| glyph == '╳').unwrap();
    assert!(same.abs_diff(cross) <= 1, "{chart:#?}");
}

#[test]
fn a_limit_that_is_far_is_named_and_does_not_squash_the_curve() {
    let samples = by_step(1..=300, |step| (2000 + step % 7) as f64 * MIB);
    let dashboard = seen(MadeUpRun::with_limit(64.0 * GIB), &samples);
    let chart = drawn(&dashboard, 72, 9);
    assert!(chart[0].ends_with("↑ limit 64.0 GiB"), "{chart:#?}");
    assert!(chart[0].starts_with("GiB from 1.9"), "{chart:#?}");
}

#[test]
fn what_is_level_is_drawn_in_the_middle_not_at_the_border() {
    let samples = by_step(1..=300, |_| 2000.0 * MIB);
    let chart = drawn(&seen(MadeUpRun::default(), &samples), 40, 9);
    insta::assert_snapshot!(chart.join("\n"), @r"
    GiB from 1.89
    2.00

    1.95 ⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀


    1.89
         ───────────┬───────────┬──────────┬
    step           100         200       300
    ");
}

#[test]
fn rss_that_misleads_is_named_and_does_not_squash_the_curve() {
    let samples = by_step(1..=100, |step| (1500.0 + step as f64) * MIB);
    let dashboard = seen(MadeUpRun::with_workers(20), &samples);
    let chart = drawn(&dashboard, 72, 9);
    assert!(chart[0].contains("↑ Σ RSS 8.0 GiB"), "{chart:#?}");
    let honest = seen(MadeUpRun::default(), &samples);
    assert!(!drawn(&honest, 72, 9)[0].contains("RSS"));
    // As high as the chart or lower, it is drawn.
    let samples = by_step(1..=100, |step| (400.0 + 20.0 * step as f64) * MIB);
    let mut near = MadeUpRun::with_limit(3.2 * GIB);
    near.workers = 2;
    let chart = drawn(&seen(near, &samples), 72, 9);
    assert!(chart[0].contains("⠒ Σ RSS 3.0 GiB"), "{chart:#?}");
}

#[test]
fn the_stated_horizon_is_drawn_and_the_usual_one_only_while_young() {
    let samples = by_step(1..=80, growth);
    let young = seen(MadeUpRun::default(), &samples);
    let chart = drawn(&young, 72, 9);
    assert!(chart[0].contains("often level by 90"), "{chart:#?}");
    let samples = by_step(1..=250, growth);
    let old = seen(MadeUpRun::default(), &samples);
    assert!(!drawn(&old, 72, 9).concat().contains("level by"));
    let stated = StatedFacts {
        level_by: Some(Step(120)),
        ..StatedFacts::default()
    };
    let mut dashboard = Dashboard::new(Subject::default(), &stated, (80, 24));
    let samples = by_step(0..=80, growth);
    take(&mut dashboard, &mut MadeUpRun::default(), &samples);
    let chart = drawn(&dashboard, 85, 9);
    assert!(chart[0].contains("level-by 120"), "{chart:#?}");
    let line = chart[3].chars().position(|glyph| glyph == '┊').unwrap();
    let end = ChartContent::of(&dashboard).unwrap().range.end;
    assert_eq!(line, 5 + (120.0 / end * 80.0) as usize, "{chart:#?}");
}

#[test]
fn a_horizon_out_of_sight_is_pointed_at() {
    let stated = StatedFacts {
        level_by: Some(Step(5000)),
        ..StatedFacts::default()
    };
    let mut dashboard = Dashboard::new(Subject::default(), &stated, (80, 24));
    let samples = by_step(1..=80, growth);
    take(&mut dashboard, &mut MadeUpRun::default(), &samples);
    assert!(drawn(&dashboard, 72, 9)[0].ends_with("level-by 5000 →"));
}

#[test]
fn events_stand_below_their_step_and_are_explained() {
    let mut run = MadeUpRun::default();
    let mut dashboard = Dashboard::new(Subject::default(), &StatedFacts::default(), (80, 24));
    take(&mut dashboard, &mut run, &by_step(0..=50, |_| 2000.0 * MIB));
    run.evaluation(500.0, 50);
    run.mark(750.0, 75, MarkKind::Event("checkpoint".to_owned()));
    run.mark(1000.0, 100, MarkKind::Epoch(1));
    let samples = by_step(51..=200, |_| 2000.0 * MIB);
    take(&mut dashboard, &mut run, &samples);
    let chart = drawn(&dashboard, 85, 9);
    let header = "▾ evaluation ◆ checkpoint │ epoch";
    assert!(chart[0].ends_with(header), "{chart:#?}");
    let below: Vec<char> = chart[7].chars().collect();
    assert_eq!(
        (below[5 + 20], below[5 + 30], below[5 + 40]),
        ('▾', '◆', '│')
    );
}

#[test]
fn a_marker_that_the_user_set_is_drawn() {
    let mut run = MadeUpRun::default();
    let mut dashboard = Dashboard::new(Subject::default(), &StatedFacts::default(), (80, 24));
    take(&mut dashboard, &mut run, &by_step(0..=50, |_| GIB));
    assert!(!drawn(&dashboard, 72, 9).concat().contains("marker"));
    dashboard.on(Event::Key(KeyCode::Char('m').into()));
    take(&mut dashboard, &mut run, &by_step(51..=100, |_| GIB));
    assert!(drawn(&dashboard, 72, 9)[0].contains("│ marker"));
}

#[test]
fn ascii_is_ascii() {
    let samples = by_step((1..=80).step_by(2), growth);
    let mut run = MadeUpRun::with_limit(24.0 * GIB);
    run.workers = 20;
    run.evaluation(10.0, 40);
    let chart = drawn_with(&seen(run, &samples), Charset::Ascii, 72, 11);
    assert!(chart.iter().all(|row| row.is_ascii()), "{chart:#?}");
}

#[test]
fn a_small_chart_has_a_curve_and_its_lowest_and_highest() {
    let samples = by_step(1..=300, |step| (1000.0 + step.min(100) as f64 * 10.0) * MIB);
    let chart = drawn(&seen(MadeUpRun::default(), &samples), 20, 5);
    insta::assert_snapshot!(chart.join("\n"), @r"
    GiB from 1.0
     2.0    ⢀⠔⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒
          ⢀⠔⠁
     1.0 ⡔⠁
    step         200
    ");
}

/// Runs that are hard to draw.
fn hard_cases() -> Vec<(&'static str, Dashboard)> {
    let steps = |range| by_step(range, growth);
    let mut zoomed = seen(MadeUpRun::with_limit(24.0 * GIB), &steps(1..=400));
    for key in ['+', '+', '+', 'h', 'h'] {
        zoomed.on(Event::Key(KeyCode::Char(key).into()));
    }
    assert!(matches!(zoomed.view.window, Window::Fixed(_)));
    let mut restarted = steps(100..=400);
    restarted.extend((0..=50).map(|step| (5000.0 + step as f64, Some(step), growth(step))));
    let hole = by_step((1..=100).chain(3000..=3100), growth);
    vec![
        ("nothing", seen(MadeUpRun::default(), &[])),
        (
            "one sample",
            seen(MadeUpRun::default(), &[(0.0, None, GIB)]),
        ),
        (
            "two that are equal",
            seen(
                MadeUpRun::default(),
                &[(3.0, Some(7), GIB), (3.0, Some(7), GIB)],
            ),
        ),
        (
            "no memory",
            seen(
                MadeUpRun::default(),
                &steps(0..=0)
                    .into_iter()
                    .map(|(t, step, _)| (t, step, 0.0))
                    .collect::<Vec<_>>(),
            ),
        ),
        (
            "no memory for long",
            seen(MadeUpRun::default(), &by_step(0..=100, |_| 0.0)),
        ),
        (
            "as much as there is",
            seen(
                MadeUpRun::default(),
                &by_step(0..=100, |step| step as f64 * 1.8e17),
            ),
        ),
        (
            "above the limit",
            seen(MadeUpRun::with_limit(GIB), &steps(0..=100)),
        ),
        (
            "growth",
            seen(MadeUpRun::with_limit(24.0 * GIB), &steps(1..=80)),
        ),
        ("workers", seen(MadeUpRun::with_workers(20), &steps(1..=80))),
        ("zoomed", zoomed),
        ("steps that restart", seen(MadeUpRun::default(), &restarted)),
        ("a hole", seen(MadeUpRun::default(), &hole)),
        (
            "steps without end",
            seen(
                MadeUpRun::default(),
                &[(0.0, Some(0), GIB), (1.0, Some(u64::MAX), GIB)],
            ),
        ),
    ]
}

#[test]
fn no_size_and_no_run_breaks_it() {
    for (name, mut dashboard) in hard_cases() {
        for axis in ["steps", "time"] {
            for charset in [Charset::Unicode, Charset::Ascii] {
                for (width, height) in (0..24).flat_map(|w| (0..12).map(move |h| (w, h))) {
                    let _ = drawn_with(&dashboard, charset, width, height);
                }
                let chart = drawn_with(&dashboard, charset, 90, 20);
                let has_words = !chart.concat().trim().is_empty();
                assert!(has_words, "{name} over {axis}: {chart:#?}");
            }
            dashboard.on(Event::Key(KeyCode::Char('x').into()));
        }
    }
}

#[test]
fn a_part_of_the_screen_is_all_that_is_touched() {
    let dashboard = seen(MadeUpRun::with_limit(24.0 * GIB), &by_step(1..=80, growth));
    let screen = Rect::new(0, 0, 60, 20);
    let area = Rect::new(10, 5, 40, 10);
    let mut buffer = Buffer::empty(screen);
    draw(&dashboard, &Styles::default(), area, &mut buffer);
    for position in screen.positions().filter(|at| !area.contains(*at)) {
        assert_eq!(buffer[position].symbol(), " ", "{position}");
    }
    // An area that is partly off the screen, as between a resize and the next areas.
    draw(
        &dashboard,
        &Styles::default(),
        Rect::new(50, 15, 40, 10),
        &mut buffer,
    );
}
