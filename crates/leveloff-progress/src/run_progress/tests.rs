use super::*;

const OUTPUT: SourceId = SourceId {
    source: ProgressSource::Output,
    is_found: false,
    number: 0,
};
const LOG: SourceId = SourceId {
    source: ProgressSource::Log,
    is_found: false,
    number: 3,
};
const MARKS: SourceId = SourceId {
    source: ProgressSource::Marks,
    is_found: false,
    number: 7,
};

fn step(n: u64) -> ProgressUpdate {
    ProgressUpdate {
        step: Some(Step(n)),
        ..ProgressUpdate::default()
    }
}

fn named(n: u64, counter: &str) -> ProgressUpdate {
    ProgressUpdate {
        new_clock: Some(counter.to_owned()),
        ..step(n)
    }
}

/// Applies an update and returns the marks that follow from it.
fn apply(run: &mut RunProgress, update: ProgressUpdate, source_id: SourceId) -> Vec<MarkKind> {
    let context = UpdateContext {
        t: Seconds(1.0),
        process: None,
        is_history: false,
    };
    let mut marks = Vec::new();
    run.apply(update, source_id, context, &mut marks);
    marks.into_iter().map(|mark| mark.kind).collect()
}

fn clock(counter: &str) -> Vec<MarkKind> {
    vec![MarkKind::Clock(counter.to_owned())]
}

#[test]
fn another_counter_of_the_same_output_is_no_restart() {
    let mut run = RunProgress::default();
    let first = ProgressUpdate {
        plan: Some(Plan::Steps(Step(60_000))),
        epoch_steps: Some(Step(60_000)),
        unit: Some(StepUnit::Samples),
        ..named(640, "Train Epoch")
    };
    assert_eq!(apply(&mut run, first, OUTPUT), []);
    assert_eq!(run.progress().unit, Some(StepUnit::Samples));
    assert_eq!(apply(&mut run, named(10, "iter"), OUTPUT), clock("iter"));
    let progress = run.progress();
    assert_eq!(progress.step, Some(Step(10)));
    assert_eq!((progress.planned_steps, progress.epoch_steps), (None, None));
    assert_eq!(progress.unit, None);
    let source = progress.source.as_ref().unwrap();
    assert_eq!(source.counter.as_deref(), Some("iter"));
    assert_eq!(apply(&mut run, step(11), OUTPUT), []);
    assert_eq!(
        apply(&mut run, step(9), OUTPUT),
        [],
        "a lower step of the same counter is a mistake"
    );
    assert_eq!(run.progress().step, Some(Step(11)));
}

#[test]
fn the_new_counters_own_plan_counts() {
    let mut run = RunProgress::default();
    apply(&mut run, named(3, "epoch"), OUTPUT);
    let update = ProgressUpdate {
        plan: Some(Plan::Steps(Step(500))),
        ..named(20, "iter")
    };
    assert_eq!(apply(&mut run, update, OUTPUT), clock("iter"));
    assert_eq!(run.progress().planned_steps, Some(Step(500)));
}

#[test]
fn a_better_source_that_corrects_the_step_changes_the_clock() {
    let mut run = RunProgress::default();
    run.describe(LOG, Some("/tmp/train.log".to_owned()), None);
    apply(&mut run, named(900, "batch"), LOG);
    let source = run.progress().source.clone().unwrap();
    assert_eq!(source.file.as_deref(), Some("/tmp/train.log"));
    assert_eq!(source.counter.as_deref(), Some("batch"));
    assert_eq!(apply(&mut run, step(30), MARKS), clock("marks"));
    assert_eq!(apply(&mut run, step(901), LOG), [], "the log is outranked");
    assert_eq!(run.progress().step, Some(Step(30)));
    assert_eq!(
        run.progress().source,
        Some(StepSource::from(ProgressSource::Marks))
    );
}

#[test]
fn a_better_source_that_goes_on_is_no_event() {
    let mut run = RunProgress::default();
    let named = ProgressUpdate {
        unit: Some(StepUnit::Steps),
        ..step(29)
    };
    apply(&mut run, named, LOG);
    assert_eq!(apply(&mut run, step(30), MARKS), []);
    assert_eq!(run.progress().unit, None, "steps, as the marks count");
}

#[test]
fn a_file_that_was_found_gives_way_to_the_log_and_to_a_livelier_file() {
    let found = |number| SourceId {
        is_found: true,
        number,
        ..LOG
    };
    let mut run = RunProgress::default();
    apply(&mut run, step(50), found(0));
    assert_eq!(apply(&mut run, step(7), found(1)), [], "one file at a time");
    assert_eq!(run.progress().step, Some(Step(50)));
    run.give_up_step_source();
    assert_eq!(apply(&mut run, step(8), found(1)), clock("log"));
    assert_eq!(apply(&mut run, step(3), LOG), clock("log"));
    assert_eq!(apply(&mut run, step(9), found(1)), []);
    assert_eq!(run.progress().step, Some(Step(3)));
}
