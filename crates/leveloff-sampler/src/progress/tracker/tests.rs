use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use leveloff_model::progress::{MarkKind, Phase};
use leveloff_model::training_counters::TrainingCounter;
use leveloff_model::units::Step;

use super::*;

/// A process that stands in for a training: it lives until the test ends, says nothing itself, and
/// has its output and its marks in a directory of its own.
struct Trainee {
    dir: tempfile::TempDir,
    child: Child,
}

impl Trainee {
    fn start() -> Trainee {
        let dir = tempfile::tempdir().unwrap();
        let log = File::create(dir.path().join("train.log")).unwrap();
        let child = waiting_child(dir.path(), log.into());
        Trainee { dir, child }
    }

    fn pid(&self) -> Pid {
        Pid(self.child.id() as i32)
    }

    fn marks(&self) -> PathBuf {
        self.dir.path().join(format!("{}.jsonl", self.pid()))
    }

    fn mark(&self, lines: &str) {
        append(&self.marks(), lines);
        fs::set_permissions(self.marks(), fs::Permissions::from_mode(0o600)).unwrap();
    }

    fn print(&self, lines: &str) {
        append(&self.dir.path().join("train.log"), lines);
    }
}

impl Drop for Trainee {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// A child that has executed its program, so that its environment can be read, and waits
/// for its input to end. Shells will not do: they move their descriptors about.
fn waiting_child(marks: &Path, stdout: Stdio) -> Child {
    let mut child = Command::new("tee")
        .arg("/dev/stderr")
        .env("LEVELOFF_MARKS", marks)
        .stdin(Stdio::piped())
        .stdout(stdout)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut echo = [0; 1];
    child.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    child
        .stderr
        .as_mut()
        .unwrap()
        .read_exact(&mut echo)
        .unwrap();
    child
}

fn append(path: &Path, text: &str) {
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

fn tracker() -> ProgressTracker {
    ProgressTracker::new(ProgressOptions::default()).unwrap()
}

fn watching(trainee: &Trainee) -> ProgressTracker {
    let mut tracker = tracker();
    tracker.watch_process(&ProcRoot::live(), ProcessIndex(0), trainee.pid(), None);
    tracker
}

/// Polls as if the recording had run for `t` seconds; gives what was marked.
fn poll(tracker: &mut ProgressTracker, t: f64) -> Vec<MarkKind> {
    let news = tracker.poll(Seconds(t), SystemTime::now());
    news.marks.into_iter().map(|mark| mark.kind).collect()
}

fn gaps(tracker: &mut ProgressTracker, t: f64) -> Vec<String> {
    let news = tracker.poll(Seconds(t), SystemTime::now());
    news.gaps.into_iter().map(|gap| gap.text).collect()
}

fn step_source(tracker: &ProgressTracker) -> Option<ProgressSource> {
    tracker.progress().source.as_ref().map(|source| source.kind)
}

fn unix_now() -> f64 {
    UnixSeconds::from(SystemTime::now()).0
}

#[test]
fn marks_outrank_a_log_once_they_speak() {
    let trainee = Trainee::start();
    let mut tracker = watching(&trainee);
    trainee.print("step 5: loss 2.0\n");
    poll(&mut tracker, 10.0);
    assert_eq!(tracker.progress().step, Some(Step(5)));
    assert_eq!(step_source(&tracker), Some(ProgressSource::Log));
    trainee.mark("{\"step\":7,\"tensors\":6529,\"planned_steps\":90}\n");
    trainee.print("step 100: loss 2.0\n");
    poll(&mut tracker, 11.5);
    assert_eq!(tracker.progress().step, Some(Step(7)));
    assert_eq!(step_source(&tracker), Some(ProgressSource::Marks));
    assert_eq!(
        tracker.progress().counters.get(TrainingCounter::Tensors),
        Some(6529)
    );
    trainee.mark("{\"tensors\":6529}\n");
    poll(&mut tracker, 2.5);
    let inside = &tracker.progress().counters;
    assert_eq!(inside.get(TrainingCounter::TensorCounts), Some(2));
    assert_eq!(tracker.progress().planned_steps, Some(Step(90)));
    trainee.print("step 101: loss 2.0\n");
    poll(&mut tracker, 12.0);
    assert_eq!(tracker.progress().step, Some(Step(7)));
}

#[test]
fn marks_of_a_training_that_has_just_begun_are_soon_found() {
    let trainee = Trainee::start();
    let mut tracker = watching(&trainee);
    poll(&mut tracker, 0.0);
    trainee.mark("{\"step\":1}\n");
    poll(&mut tracker, 0.2);
    assert_eq!(tracker.progress().step, Some(Step(1)));
}

#[test]
fn events_phases_and_epochs_become_marks_with_their_time_and_facts() {
    let trainee = Trainee::start();
    let mut tracker = watching(&trainee);
    let t = unix_now() - 2.0;
    trainee.mark(&format!(
        "{{\"leveloff_marks\":1,\"pid\":{}}}\n{{\"t\":{t},\"step\":1,\"epoch\":0.1,\"phase\":\"train\"}}\n\
         {{\"t\":{t},\"step\":2,\"epoch\":1.1,\"event\":\"checkpoint\",\
         \"path\":\"/ckpt/2\",\"saved_mb\":12}}\n",
        trainee.pid()
    ));
    let marks = tracker.poll(Seconds(100.0), SystemTime::now()).marks;
    let kinds: Vec<&MarkKind> = marks.iter().map(|mark| &mark.kind).collect();
    assert_eq!(
        kinds,
        [
            &MarkKind::Epoch(0),
            &MarkKind::Phase(Phase::Train),
            &MarkKind::Epoch(1),
            &MarkKind::Event("checkpoint".to_owned())
        ]
    );
    let checkpoint = &marks[3];
    assert_eq!(
        (checkpoint.step, checkpoint.process),
        (Some(Step(2)), Some(ProcessIndex(0)))
    );
    assert_eq!(checkpoint.facts.get("saved_mb"), Some(&12.0));
    assert!(
        (90.0..=98.5).contains(&checkpoint.t.0),
        "{:?}",
        checkpoint.t
    );
    assert_eq!(checkpoint.path.as_deref(), Some("/ckpt/2"));
}

#[test]
fn a_training_that_obeys_gets_a_stop_request() {
    let trainee = Trainee::start();
    let mut tracker = watching(&trainee);
    poll(&mut tracker, 0.0);
    assert!(tracker.stop_request().is_none(), "no marks yet");
    trainee.mark("{\"step\":1}\n");
    poll(&mut tracker, 1.0);
    assert!(!tracker.stop_request().unwrap().is_obeyed());
    trainee.mark("{\"step\":2,\"obeys_stop\":true}\n{\"step\":3}\n");
    poll(&mut tracker, 2.0);
    let request = tracker.stop_request().unwrap();
    assert!(request.is_obeyed());
    assert_eq!(request.pid(), trainee.pid());
    let path = trainee.dir.path().join(format!("{}.stop", trainee.pid()));
    assert_eq!(request.path(), path);
    let sent = request.send("28 of 32 GB used").unwrap();
    assert!(fs::read_to_string(&path).unwrap().contains("28 of 32 GB"));
    assert!(sent.withdraw().unwrap());
    trainee.mark("{\"obeys_stop\":false}\n");
    poll(&mut tracker, 3.0);
    assert!(!tracker.stop_request().unwrap().is_obeyed());
}

#[test]
fn a_watcher_that_comes_late_knows_that_the_training_listens() {
    let trainee = Trainee::start();
    let t = unix_now() - 1.0;
    trainee.mark(&format!("{{\"t\":{t},\"step\":1,\"obeys_stop\":true}}\n"));
    let mut tracker = watching(&trainee);
    assert_eq!(poll(&mut tracker, 0.0), []);
    assert!(tracker.stop_request().unwrap().is_obeyed());
}

#[test]
fn of_several_ranks_the_lead_gets_the_stop_request() {
    let (zero, one) = (Trainee::start(), Trainee::start());
    let mut tracker = tracker();
    for (n, trainee) in [(1, &one), (0, &zero)] {
        trainee.mark(&format!("{{\"step\":1,\"obeys_stop\":{}}}\n", n == 1));
        let (index, rank) = (ProcessIndex(7 - n), Some(Rank(n)));
        tracker.watch_process(&ProcRoot::live(), index, trainee.pid(), rank);
    }
    poll(&mut tracker, 0.0);
    let request = tracker.stop_request().unwrap();
    assert_eq!(request.pid(), zero.pid());
    assert!(!request.is_obeyed(), "the other one said so");
    tracker.forget_process(ProcessIndex(7));
    poll(&mut tracker, 1.0);
    poll(&mut tracker, 2.0);
    let request = tracker.stop_request().unwrap();
    assert_eq!(request.pid(), one.pid());
    assert!(request.is_obeyed());
}

#[test]
fn what_was_marked_before_the_recording_is_where_things_stand_and_no_event() {
    let trainee = Trainee::start();
    let t = unix_now() - 1.0;
    trainee.mark(&format!(
        "{{\"t\":{t},\"step\":1,\"phase\":\"train\",\"event\":\"checkpoint\"}}\n\
         {{\"t\":{t},\"step\":9,\"phase\":\"eval\"}}\n"
    ));
    trainee.print("step 3: loss 1\n");
    let mut tracker = watching(&trainee);
    assert_eq!(poll(&mut tracker, 0.0), [MarkKind::Phase(Phase::Eval)]);
    assert_eq!(tracker.progress().step, Some(Step(9)));
}

#[test]
fn the_trainers_two_outputs_are_put_together() {
    let fixture = |name: &str| {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/training-logs/");
        fs::read(format!("{root}{name}.bin")).unwrap()
    };
    let mut tracker = tracker();
    tracker.feed_output(OutputStream::Stdout, &fixture("hf_stdout"));
    tracker.feed_output(OutputStream::Stderr, &fixture("hf_stderr"));
    let marks = poll(&mut tracker, 1.0);
    let progress = tracker.progress();
    assert_eq!(
        (progress.step, progress.planned_steps),
        (Some(Step(40)), Some(Step(40)))
    );
    assert_eq!(progress.epoch, Some(1.0));
    assert_eq!(step_source(&tracker), Some(ProgressSource::Output));
    let count = |kind: &MarkKind| marks.iter().filter(|mark| *mark == kind).count();
    assert_eq!(count(&MarkKind::Event("evaluation".to_owned())), 2);
    assert_eq!(count(&MarkKind::Phase(Phase::Eval)), 2);
    assert_eq!(poll(&mut tracker, 2.0), []);
}

#[test]
fn much_output_between_polls_is_kept_short() {
    let mut tracker = tracker();
    for n in 1..=5000 {
        tracker.feed_output(
            OutputStream::Stdout,
            format!("step {n}: loss 2.0\n").as_bytes(),
        );
    }
    assert!(tracker.pending.len() <= 2);
    poll(&mut tracker, 1.0);
    assert_eq!(tracker.progress().step, Some(Step(5000)));
}

#[test]
fn steps_come_from_the_lowest_rank_and_a_gap_reports_the_others() {
    let (first, second) = (Trainee::start(), Trainee::start());
    first.mark("{\"step\":1}\n");
    second.mark("{\"step\":2}\n");
    let mut tracker = tracker();
    let live = ProcRoot::live();
    tracker.watch_process(&live, ProcessIndex(0), first.pid(), Some(Rank(1)));
    poll(&mut tracker, 0.0);
    assert_eq!(tracker.progress().step, Some(Step(1)));
    tracker.watch_process(&live, ProcessIndex(1), second.pid(), Some(Rank(0)));
    assert!(gaps(&mut tracker, 1.0)[0].contains("lowest rank"));
    assert_eq!(tracker.progress().step, Some(Step(2)));
    first.mark("{\"step\":50}\n");
    assert!(gaps(&mut tracker, 2.0).is_empty(), "said once");
    assert_eq!(tracker.progress().step, Some(Step(2)));
    // Rank 0's last words are read after it is gone; then rank 1 is all there is.
    second.mark("{\"step\":3}\n");
    tracker.forget_process(ProcessIndex(1));
    poll(&mut tracker, 3.0);
    assert_eq!(tracker.progress().step, Some(Step(3)));
    poll(&mut tracker, 4.0);
    assert_eq!(tracker.progress().step, Some(Step(50)));
}

#[test]
fn a_rank_that_outlives_the_lowest_does_not_tell_everything_again() {
    let (lowest, other) = (Trainee::start(), Trainee::start());
    let mut tracker = tracker();
    let live = ProcRoot::live();
    tracker.watch_process(&live, ProcessIndex(0), lowest.pid(), Some(Rank(0)));
    tracker.watch_process(&live, ProcessIndex(1), other.pid(), Some(Rank(1)));
    let checkpoint = format!(
        "{{\"t\":{},\"step\":9,\"event\":\"checkpoint\"}}\n",
        unix_now() - 3.0
    );
    lowest.mark(&checkpoint);
    other.mark(&checkpoint);
    let event = MarkKind::Event("checkpoint".to_owned());
    assert!(poll(&mut tracker, 5.0).contains(&event));
    tracker.forget_process(ProcessIndex(0));
    poll(&mut tracker, 6.0);
    let marks = poll(&mut tracker, 7.0);
    assert!(!marks.contains(&event), "{marks:?}");
    assert_eq!(tracker.progress().step, Some(Step(9)));
}

#[test]
fn marks_that_take_over_from_a_bar_keep_their_plan_and_begin_nothing_anew() {
    let trainee = Trainee::start();
    let mut tracker = watching(&trainee);
    let bar = |n: u32| format!("\r {n}%|#   | {n}/40 [00:01<00:04,  7.22it/s]");
    tracker.feed_output(OutputStream::Stderr, bar(3).as_bytes());
    trainee.mark("{\"event\":\"train_begin\",\"planned_steps\":500,\"epoch_steps\":50}\n");
    let mut marks = poll(&mut tracker, 1.0);
    tracker.feed_output(OutputStream::Stderr, bar(5).as_bytes());
    marks.extend(poll(&mut tracker, 2.0));
    trainee.mark("{\"step\":1}\n{\"step\":2}\n");
    marks.extend(poll(&mut tracker, 3.0));
    let progress = tracker.progress();
    assert_eq!(progress.step, Some(Step(2)));
    assert_eq!(progress.planned_steps, Some(Step(500)));
    assert_eq!(progress.epoch_steps, Some(Step(50)));
    let restart = MarkKind::Event("restart".to_owned());
    assert!(!marks.contains(&restart), "{marks:?}");
}

#[test]
fn a_file_that_the_training_began_anew_is_followed_and_the_old_one_read_to_its_end() {
    let trainee = Trainee::start();
    trainee.mark("{\"step\":7}\n");
    let mut tracker = watching(&trainee);
    poll(&mut tracker, 1.0);
    trainee.mark("{\"step\":8,\"event\":\"checkpoint\"}\n");
    let newer = trainee.marks().with_extension("new");
    append(&newer, "{\"step\":9}\n");
    fs::set_permissions(&newer, fs::Permissions::from_mode(0o600)).unwrap();
    fs::rename(&newer, trainee.marks()).unwrap();
    let marks = poll(&mut tracker, 3.0);
    assert!(
        marks.contains(&MarkKind::Event("checkpoint".to_owned())),
        "{marks:?}"
    );
    assert_eq!(tracker.progress().step, Some(Step(9)));
}

#[test]
fn a_training_that_begins_anew_is_an_event() {
    let trainee = Trainee::start();
    let mut tracker = watching(&trainee);
    trainee.mark("{\"step\":50}\n");
    poll(&mut tracker, 0.0);
    trainee.mark("{\"step\":1}\n{\"step\":2}\n{\"step\":3}\n");
    assert_eq!(
        poll(&mut tracker, 0.1),
        [MarkKind::Event("restart".to_owned())]
    );
    assert_eq!(tracker.progress().step, Some(Step(3)));
}

#[test]
fn marks_of_an_earlier_process_with_this_pid_are_ignored_and_reported() {
    let trainee = Trainee::start();
    trainee.mark("{\"step\":50}\n");
    let long_ago = SystemTime::now() - Duration::from_secs(86_400 * 365);
    File::options()
        .write(true)
        .open(trainee.marks())
        .unwrap()
        .set_modified(long_ago)
        .unwrap();
    let mut tracker = watching(&trainee);
    assert!(gaps(&mut tracker, 0.0)[0].contains("older than the process"));
    assert_eq!(tracker.progress().step, None);
    // The real one replaces it.
    fs::remove_file(trainee.marks()).unwrap();
    trainee.mark("{\"step\":1}\n");
    poll(&mut tracker, 1.0);
    assert_eq!(tracker.progress().step, Some(Step(1)));
}

#[test]
fn bad_marks_are_reported_once_and_stop_nothing() {
    let trainee = Trainee::start();
    let mut tracker = watching(&trainee);
    trainee.mark("{\"step\":?}\n{\"step\":4}\n");
    assert!(gaps(&mut tracker, 0.0)[0].contains("not a JSON object"));
    trainee.mark("nonsense\n{\"step\":5}\n");
    assert!(gaps(&mut tracker, 1.0).is_empty());
    assert_eq!(tracker.progress().step, Some(Step(5)));
}

#[test]
fn a_training_without_sources_is_reported() {
    let mut child = waiting_child(Path::new("not/absolute"), Stdio::null());
    let mut tracker = tracker();
    tracker.watch_process(
        &ProcRoot::live(),
        ProcessIndex(0),
        Pid(child.id() as i32),
        None,
    );
    let gaps = gaps(&mut tracker, 0.0);
    assert!(gaps[0].contains("not an absolute path"), "{gaps:?}");
    let mut missing = |t| tracker.poll(Seconds(t), SystemTime::now()).missing;
    let said = [missing(29.0), missing(31.0), missing(32.0)];
    drop(child.stdin.take());
    child.wait().unwrap();
    let without_output = MissingSteps {
        goes_to_null: true,
        ..MissingSteps::default()
    };
    let expected = [None, Some(without_output), None];
    assert_eq!(said, expected, "once, after half a minute");
}

#[test]
fn output_that_is_sent_to_a_file_later_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("train.log");
    // A saved process: what its descriptors lead to can be changed at will.
    let process = dir.path().join("proc/7");
    fs::create_dir_all(process.join("fd")).unwrap();
    let mut tracker = tracker();
    let saved = ProcRoot::at(dir.path().join("proc"));
    tracker.watch_process(&saved, ProcessIndex(0), Pid(7), None);
    poll(&mut tracker, 0.0);
    append(&log, "step 12: loss 2\n");
    std::os::unix::fs::symlink(&log, process.join("fd/1")).unwrap();
    poll(&mut tracker, 0.5);
    assert_eq!(
        tracker.progress().step,
        None,
        "not looked for at every tick"
    );
    poll(&mut tracker, 1.5);
    assert_eq!(tracker.progress().step, Some(Step(12)));
}

#[test]
fn a_log_that_the_user_named_must_exist() {
    let dir = tempfile::tempdir().unwrap();
    let log = |name: &str| ProgressOptions {
        log: Some(dir.path().join(name)),
        has_output: false,
        ..ProgressOptions::default()
    };
    let error = ProgressTracker::new(log("missing.log"))
        .unwrap_err()
        .to_string();
    assert!(error.contains("missing.log does not exist"), "{error}");
    append(&dir.path().join("train.log"), "step 12: loss 2\n");
    let mut tracker = ProgressTracker::new(log("train.log")).unwrap();
    poll(&mut tracker, 0.0);
    assert_eq!(tracker.progress().step, Some(Step(12)));
}

/// A process in namespaces of its own sees another pid and another /tmp.
#[test]
fn a_containers_marks_are_found_under_its_own_pid_and_tmp() {
    let script = "mount -t tmpfs none /tmp && mkdir -m 700 /tmp/leveloff-$(id -u) && \
        echo '{\"step\":77}' > /tmp/leveloff-$(id -u)/$$.jsonl && echo $$ && read end";
    let child = Command::new("unshare")
        .args([
            "--mount",
            "--pid",
            "--fork",
            "--mount-proc",
            "sh",
            "-c",
            script,
        ])
        .env_remove("LEVELOFF_MARKS")
        .env_remove("XDG_RUNTIME_DIR")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else {
        leveloff_testkit::cannot_run_here("no unshare program here");
        return;
    };
    // It says its own pid when its marks are written.
    let mut own_pid = String::new();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    output.read_line(&mut own_pid).unwrap();
    if own_pid.trim() != "1" {
        leveloff_testkit::cannot_run_here("may not make namespaces here");
        child.wait().unwrap();
        return;
    }
    let children = format!("/proc/{0}/task/{0}/children", child.id());
    let inner: i32 = fs::read_to_string(children)
        .unwrap()
        .trim()
        .parse()
        .unwrap();
    let mut tracker = tracker();
    tracker.watch_process(&ProcRoot::live(), ProcessIndex(0), Pid(inner), None);
    let marks = poll(&mut tracker, 0.0);
    let request = tracker.stop_request().unwrap();
    let sent = request.send("why").map(|sent| sent.is_waiting());
    drop(child.stdin.take());
    child.wait().unwrap();
    assert_eq!(tracker.progress().step, Some(Step(77)), "{marks:?}");
    let uid = rustix::process::geteuid().as_raw();
    let expected = format!("/proc/{inner}/root/tmp/leveloff-{uid}/1.stop");
    assert_eq!(request.path(), PathBuf::from(expected));
    assert!(matches!(sent, Ok(true)), "{sent:?}");
}
