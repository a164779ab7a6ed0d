//! One table: a curve, what is true of it, and what is said.

use leveloff_classifier::verdict::Grade::{Confirmed, Early, Suspected};
use leveloff_classifier::verdict::LevelGrade;
use leveloff_classifier::verdict::Reason;
use leveloff_classifier::verdict::Shape::{
    self, Flat, Jump, Linear, Saturating, Sawtooth, Shrinking, Staircase,
};
use leveloff_classifier::verdict::Verdict::{self, Leak, Level, Undecided, WarmingUp};

use crate::run::{MB, Run};
use crate::seeds::{self, story_to_step_80};
use crate::shapes;
use crate::strange;
const LEVEL: Verdict = Level(LevelGrade::Confirmed);
/// Flat, and growth that would matter is not ruled out.
const FLAT_SO_FAR: Verdict = Level(LevelGrade::Early);

use Truth::{Healthy, Leaking, Unknowable};

/// What is true of a curve, which is more than can be seen in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Truth {
    Healthy,
    Leaking,
    /// It may be either: the curve does not decide it.
    Unknowable,
}

/// A curve and what is said of it.
struct Case {
    name: &'static str,
    run: fn() -> Run,
    truth: Truth,
    verdict: Verdict,
    shape: Shape,
    /// Why what is said is wrong, where it is. It stands here so that it is not forgotten, and the
    /// table has to be changed when it gets better.
    known_wrong: Option<&'static str>,
}

#[test]
#[rustfmt::skip] // A row of the table is a line.
fn what_a_team_saw() {
    check_all(&[
        case("story_to_step_80", story_to_step_80, Healthy, WarmingUp, Linear),
        case("gc_cycles", seeds::gc_cycles, Healthy, LEVEL, Sawtooth),
        // Two teeth are too few to call them that; they stay below the reporting threshold.
        case("gc_cycles_as_a_table", seeds::gc_cycles_as_a_table, Healthy, FLAT_SO_FAR, Flat),
        case("growth_as_a_table", seeds::growth_as_a_table, Unknowable, WarmingUp, Linear),
        case("validation_that_returns", seeds::validation_that_returns, Healthy, LEVEL, Sawtooth),
        case("validation_that_stays", seeds::validation_that_stays, Leaking, Leak(Early), Staircase),
        // Ten points of straight growth are what the first ten batches of a warmup look like too.
        case("batches", seeds::batches_without_cleanup, Unknowable, WarmingUp, Linear),
        case("100_batches", seeds::a_hundred_batches_without_cleanup, Leaking, WarmingUp, Linear),
        case("500_batches", seeds::five_hundred_batches_without_cleanup, Leaking, Leak(Early), Linear),
        case("batches_with_cleanup", seeds::batches_with_cleanup, Healthy, LEVEL, Flat),
        case("two_minutes", seeds::compile_run_for_two_minutes, Unknowable, WarmingUp, Linear),
        case("three_hours", seeds::compile_run_for_three_hours, Leaking, Leak(Confirmed), Linear),
        case("before_the_fixes", seeds::before_the_fixes, Unknowable, WarmingUp, Linear),
        case("after_the_fixes", seeds::after_the_fixes, Healthy, LEVEL, Sawtooth),
    ]);
}

#[test]
#[rustfmt::skip] // A row of the table is a line.
fn shapes_that_are_taken_for_one_another() {
    check_all(&[
        case("plain_warmup", shapes::plain_warmup, Healthy, FLAT_SO_FAR, Saturating),
        case("plain_leak", shapes::plain_leak, Leaking, Leak(Confirmed), Linear),
        case("creeps_to_an_end", shapes::pool_that_creeps_to_an_end, Healthy, LEVEL, Saturating),
        // 3 % in 760 straight steps after the warmup, and no end: small, and no pool.
        case("creeps_straight", shapes::pool_that_creeps_straight, Leaking, Leak(Suspected), Linear),
        case("square_root", shapes::square_root, Unknowable, WarmingUp, Saturating),
        case("logarithm", shapes::logarithm, Unknowable, WarmingUp, Saturating),
        case("at_the_limit", shapes::flat_at_the_limit, Leaking, Undecided, Saturating),
        case("at_an_unknown_limit", shapes::flat_at_an_unknown_limit, Leaking, LEVEL, Saturating)
            .wrong("nothing in the curve distinguishes an unstated ceiling from a level"),
        case("below_the_limit", shapes::flat_below_the_limit, Healthy, LEVEL, Saturating),
        case("small_leak", shapes::small_leak, Leaking, Leak(Suspected), Linear),
        case("small_level", shapes::small_level, Healthy, LEVEL, Saturating),
        case("one_jump", shapes::one_jump, Healthy, LEVEL, Jump),
        case("sawtooth_that_climbs", shapes::sawtooth_that_climbs, Leaking, Leak(Suspected), Linear),
        case("staircase", shapes::staircase, Leaking, Leak(Confirmed), Staircase),
        case("rare_stairs", shapes::rare_stairs, Leaking, Leak(Early), Staircase),
        case("teeth_of_60_mb", || shapes::teeth(60.0), Healthy, LEVEL, Sawtooth),
        case("teeth_of_25_mb", || shapes::teeth(25.0), Healthy, LEVEL, Sawtooth),
        // Less than a quarter of the reporting threshold.
        case("teeth_of_15_mb", || shapes::teeth(15.0), Healthy, LEVEL, Flat),
        case("quiver_that_beats", shapes::quiver_that_beats, Healthy, LEVEL, Flat),
        case("shrinking", shapes::shrinking, Healthy, LEVEL, Shrinking),
        case("noise", shapes::noise, Healthy, LEVEL, Flat),
        case("leak_with_teardown", shapes::leak_with_teardown, Leaking, Leak(Confirmed), Linear),
        case("level_with_teardown", shapes::level_with_teardown, Healthy, FLAT_SO_FAR, Saturating),
    ]);
}

/// A shape that is not reported has no period either: the period of a beat is nowhere in the run.
#[test]
fn only_a_sawtooth_has_a_period() {
    let teeth = shapes::teeth(25.0).judged();
    assert_eq!(teeth.reason, Reason::Returns);
    assert!((teeth.period.unwrap().0 - 100.0).abs() < 10.0, "{teeth:?}");
    for run in [shapes::teeth(15.0), shapes::quiver_that_beats()] {
        let steady = run.judged();
        assert_eq!((steady.reason, steady.period), (Reason::Steady, None));
    }
}

/// How soon growth is seen that begins after a long quiet time.
#[test]
#[rustfmt::skip] // A row of the table is a line.
fn late_growth() {
    check_all(&[
        case("late_nothing", shapes::late_nothing, Healthy, LEVEL, Flat),
        case("late_400", || shapes::late_growth(400), Leaking, Leak(Early), Linear),
        case("late_600", || shapes::late_growth(600), Leaking, Leak(Confirmed), Linear),
        case("late_1000", || shapes::late_growth(1000), Leaking, Leak(Confirmed), Linear),
        case("late_5000", || shapes::late_growth(5000), Leaking, Leak(Confirmed), Linear),
    ]);
}

/// A quiet beginning is no part of the growth.
#[test]
fn the_rate_of_growth_after_a_quiet_time() {
    let share_of_truth = |steps| {
        let said = shapes::growth_after(2000, steps).judged();
        said.rate.unwrap().value.0 / (0.5 * MB)
    };
    for steps in [600, 1500, 3000, 5000] {
        let share = share_of_truth(steps);
        assert!((share - 1.0).abs() < 0.01, "{steps}: {share}");
    }
}

#[test]
#[rustfmt::skip] // A row of the table is a line.
fn degenerate_series() {
    check_all(&[
        case("empty", strange::empty, Unknowable, Undecided, Flat),
        case("one_point", strange::one_point, Unknowable, Undecided, Flat),
        case("two_points", strange::two_points, Unknowable, Undecided, Flat),
        case("four_rising_points", strange::four_rising_points, Unknowable, WarmingUp, Linear),
        case("constant", strange::constant, Healthy, LEVEL, Flat),
        case("constant_zero", strange::constant_zero, Healthy, LEVEL, Flat),
        case("huge_level", strange::huge_level, Healthy, FLAT_SO_FAR, Saturating),
        case("huge_leak", strange::huge_leak, Leaking, Leak(Confirmed), Linear),
        case("holes", strange::leak_with_holes, Leaking, Leak(Confirmed), Linear),
        case("nothing_but_holes", strange::nothing_but_holes, Unknowable, Undecided, Flat),
        case("repeated_steps", strange::leak_with_repeated_steps, Leaking, Leak(Confirmed), Linear),
        case("one_step_only", strange::one_step_only, Unknowable, Undecided, Flat),
        case("late_lines", strange::leak_with_late_lines, Leaking, Leak(Confirmed), Linear),
        case("backwards", strange::backwards, Unknowable, Undecided, Flat),
        case("restarts", strange::restarts, Healthy, LEVEL, Saturating),
    ]);
}

const fn case(
    name: &'static str,
    run: fn() -> Run,
    truth: Truth,
    verdict: Verdict,
    shape: Shape,
) -> Case {
    Case {
        name,
        run,
        truth,
        verdict,
        shape,
        known_wrong: None,
    }
}

impl Case {
    const fn wrong(self, why: &'static str) -> Case {
        Case {
            known_wrong: Some(why),
            ..self
        }
    }

    /// Whether the table says something that it must not say without a reason.
    fn needs_a_reason(&self) -> bool {
        matches!(
            (self.truth, self.verdict),
            (Healthy, Leak(_))
                | (Unknowable, Leak(Early | Confirmed) | Level(_))
                | (Leaking, Level(_))
        )
    }
}

/// Reports all that differ, not only the first.
#[track_caller]
fn check_all(cases: &[Case]) {
    let differences: Vec<String> = cases.iter().filter_map(check).collect();
    assert!(differences.is_empty(), "\n{}\n", differences.join("\n"));
}

fn check(case: &Case) -> Option<String> {
    let name = case.name;
    if case.needs_a_reason() && case.known_wrong.is_none() {
        return Some(format!("{name}: the table itself is wrong about it"));
    }
    let said = (case.run)().judged();
    let expected = (case.verdict, case.shape);
    ((said.verdict, said.shape) != expected)
        .then(|| format!("{name}: not {expected:?} but {said:?}"))
}
