use leveloff_classifier::observation::Observation;
use leveloff_model::units::Bytes;

use super::*;
use crate::cases::{report, story_report};

fn at(step: u32, memory: u64) -> Observation {
    Observation {
        count: Some(f64::from(step)),
        memory: Bytes(memory << 20),
        ..Observation::default()
    }
}

#[test]
fn the_story_levels_off() {
    insta::assert_snapshot!(text_chart(&story_report(20)), @r"
    GiB from 4
       │⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⢀⣀⣠⠤⠤⠤⣄⣀⣀⣀⠀⠀⠀⣀⣀⣀⣀⣀⣀⣀⡤⠤⠤⢤⣀⣀⣀⣀⣀⣀⡀⠀⠀⢀⣀⣀⣀⣀⣀⣀⣀⣀⡀
    16 ┤⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⣠⠴⠋⠀⠀⠀⠀⠀⠀⠀⠀⠈⠉⠉⠉⠁⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠉⠉⠉⠉
       │⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⣠⠞⠁
       │⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⢀⡴⠋⠁
    12 ┤⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⣠⠴⠋
       │⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⣠⠞⠁
       │⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⢀⡴⠋⠁
       │⠀⠀⠀⠀⠀⠀⠀⢀⣠⠞⠉
     8 ┤⠀⠀⠀⠀⠀⣠⠖⠋
       │⠀⠀⢀⡴⠋⠁
       │⣠⠞⠉
     4 ┤
       └────────────────────────────────────────────────────────────────────
          20     40     60     80     100    120    140    160    180    200  step
                                ↑ level since step 80
    ");
}

#[test]
fn growth_leads_to_the_limit() {
    insta::assert_snapshot!(text_chart(&story_report(8)), @r"
    GiB
       │⠄⠄⠄⠄⠄⠄⠄⠄⠄⠄⠄⠄⠄⠄⠄⠄⠄⠄⠄⠄⠄⠄⠄⠄⠄⠄⠄⠄⠄⠄⠄⠄⠄⠄⠄⠄⠄⠄⠄⠄⠄⠄⠄⠄⠄⠄⠄⠄⠄⠄⠄⠄⠄⠄⠄⠄⠄⠄⠄⠄⠄⠄⠄⢄⠄⠄⠄⠄
       │⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⡀⢀⠀⠄⠐⠀⠁
    24 ┤⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⡀⠠⠀⠂⠈
       │⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⢀⠀⠄⠐⠀⠂⠈
       │⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⡀⢀⠀⠄⠐⠀⠁
    16 ┤⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⢀⣠⡄⠠⠀⠂⠈
       │⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⣀⣠⠴⠒⠋⠉
       │⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⣀⣀⡤⠤⠖⠒⠋⠉⠁
     8 ┤⠀⠀⠀⠀⠀⠀⠀⢀⣀⣠⠤⠖⠋⠉⠁
       │⣀⣠⠤⠴⠒⠚⠉⠉
       │
     0 ┤
       └────────────────────────────────────────────────────────────────────
           20      40       60      80      100      120     140     160  step
        ↑ grows since step 10
        dotted: the limit, 29.8 GiB
    ");
}

#[test]
fn a_spike_reaches_the_top_and_nothing_is_wider_than_it_may_be() {
    let spiky = report((0..50_000).map(|step| at(step, if step == 31_000 { 3000 } else { 1000 })));
    let text = text_chart(&spiky);
    let rows: Vec<&str> = text.lines().collect();
    let has_dots = |row: &str| row.chars().any(|c| ('\u{2801}'..='\u{28ff}').contains(&c));
    assert!(rows[1..4].iter().any(|row| has_dots(row)), "{text}");
    assert!(
        rows.iter().all(|row| row.chars().count() <= COLUMNS + 8),
        "{text}"
    );
}

#[test]
fn one_moment() {
    assert_eq!(
        text_chart(&report(std::iter::once(at(5, 100))))
            .lines()
            .count(),
        15
    );
}
