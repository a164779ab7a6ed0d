//! Texts before and after, and the promise that holds for all of them.

use proptest::prelude::*;

use super::*;

fn redaction() -> Redaction {
    Redaction::new(["ann", "node7.lab.example.org", "/home/ann", "root", "a"])
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(redaction().text(text), expected);
}

#[test]
fn paths_lose_their_directories_and_keep_the_file_that_helps() {
    check(
        "python /data/lab/train.py --lr 3",
        "python …/train.py --lr 3",
    );
    check(
        "--out=/data/lab/x --in='~/data/y.csv'",
        "--out=… --in='…/y.csv'",
    );
    check("runs/exp/log.txt, ./a.sh; ../b", "…/log.txt, …/a.sh; …");
    check("/opt/venv/bin/python3.11 -m x", "…/python3.11 -m x");
    check("at /data/lab/train.py:30.", "at …/train.py:30.");
    check("A=/usr/lib:/data/lab", "A=…:…");
    check("Qwen/Qwen2.5-VL-3B", "Qwen/Qwen2.5-VL-3B");
    check("/home/bob /scratch/john.py/", "… …");
    check("/data/lab/ann-model.pt", "…");
    check("/kubepods/burstable/pod77", "…");
}

#[test]
fn what_is_no_path_stays() {
    for text in [
        "165 MiB/step, 12.3it/s, 1.5GiB/h, 28/32 workers, 80×24, 2026/11/16",
        "and/or, n/a, I/O, read/write, trainer/heap, 5 / 10, CPU/GPU",
        "/dev/shm is full, see /proc/4312/smaps_rollup and /proc/meminfo",
        "/dev/nvidia0, /dev/shm/torch_12_0",
    ] {
        check(text, text);
    }
}

#[test]
fn of_the_kernels_paths_three_parts_stay() {
    check("/proc/12/root/data/lab/x.py", "/proc/12/root/…");
    check("/sys/fs/cgroup/lab.slice/x", "/sys/fs/cgroup/…");
    check(
        "/dev/shm/ann_0 /dev/shm/lab/x",
        "/dev/shm/[redacted]_0 /dev/shm/lab/…",
    );
    check("/proc/sys/vm/overcommit_memory", "/proc/sys/vm/…");
    check("/proc/../data/x", "…");
}

#[test]
fn addresses_of_the_web_go() {
    check(
        "see https://lab.example.org/x/y?z=1 now",
        "see https://… now",
    );
    check("s3://bucket/ann/x", "s3://…");
    check("file:///home/ann/x.py", "file://…");
}

#[test]
fn names_go_where_they_are_whole_words() {
    check(
        "ann: Ann's run ann_3, ann-x",
        "[redacted]: [redacted]'s run [redacted]_3, [redacted]-x",
    );
    check("annotate, joann, ann2", "annotate, joann, ann2");
    check("node7:29500 on NODE7", "[redacted]:29500 on [redacted]");
    check("db.lab.example.org", "db.[redacted]");
    check("ann@node7", "[redacted]@[redacted]");
}

#[test]
fn anonymous_names_go_only_beside_an_at_sign() {
    check("the root cause, a leak", "the root cause, a leak");
    check(
        "root@node7, a@node8",
        "[redacted]@[redacted], [redacted]@node8",
    );
    let max = Redaction::new(["max"]);
    assert_eq!(
        max.text("max: --max-level"),
        "[redacted]: --[redacted]-level"
    );
    assert_eq!(max.text("/home/max"), "…");
    assert_eq!(max.text("/data/bin/python3 /data/bin/max"), "…/python3 …");
}

#[test]
fn an_argument_with_a_slash_is_a_path() {
    let argument = |text: &str| redaction().argument(text);
    assert_eq!(argument("secret/project"), "…");
    assert_eq!(argument("--config=secret/c.yaml"), "--config=…/c.yaml");
    assert_eq!(argument("--lr=3e-4"), "--lr=3e-4");
}

#[test]
fn owners_of_home_directories_are_learned() {
    let mut redaction = Redaction::default();
    redaction.learn("python /mnt/home/bobby/x.py --out=/Users/carla");
    assert_eq!(
        redaction.text("bobby and carla"),
        "[redacted] and [redacted]"
    );
}

#[test]
fn blanks_belong_to_an_argument_and_to_a_known_directory() {
    let redaction = Redaction::new(["/mnt/my secret lab"]);
    assert_eq!(
        redaction.argument("/data/my own lab/train.py"),
        "…/train.py"
    );
    assert_eq!(redaction.argument("--in=~/my own lab"), "--in=…");
    assert_eq!(redaction.text("in /mnt/my secret lab/x.py"), "in …/x.py");
}

/// Whether a name stands in a text as a whole word.
fn tells(text: &str, name: &str) -> bool {
    let (text, name) = (text.to_lowercase(), name.to_lowercase());
    text.match_indices(&name).any(|(at, _)| {
        !text[..at].ends_with(char::is_alphanumeric)
            && !text[at + name.len()..].starts_with(char::is_alphanumeric)
    })
}

/// Texts made of names, paths with them, and what stands around them.
fn pieces(user: &str, host: &str, lab: &str) -> Vec<String> {
    vec![
        user.to_owned(),
        host.to_owned(),
        user.to_uppercase(),
        format!("{user}@{host}"),
        format!("/home/{user}"),
        format!("/home/{user}/{lab}/train.py"),
        format!("~{user}/{lab}/x"),
        format!("{host}:/{lab}/{user}.py"),
        format!("{lab}/{lab}/{user}_{host}.pt"),
        format!("/{lab}/{lab}/"),
        format!("https://{host}/{lab}"),
        format!("../{lab}/{lab}"),
        "165 MiB/step".to_owned(),
        "the root cause".to_owned(),
    ]
}

proptest! {
    #[test]
    fn neither_names_nor_directories_come_through(
        user in "zu[a-z0-9]{2,6}",
        host in "zh[a-z0-9]{2,6}(\\.zd[a-z]{2,4}\\.org)?",
        lab in "zl[a-z0-9]{2,6}",
        chosen in proptest::collection::vec((0..14usize, "[ ,;:='\"()|.]{1,2}"), 1..12),
    ) {
        let redaction = Redaction::new([user.clone(), host.clone(), format!("/home/{user}")]);
        let pieces = pieces(&user, &host, &lab);
        let text: String = chosen
            .iter()
            .map(|(piece, end)| format!("{}{end}", pieces[*piece]))
            .collect();
        let shown = redaction.text(&text);
        for name in [&user, &host, &lab] {
            prop_assert!(!tells(&shown, name), "{} in {} of {}", name, shown, text);
        }
        prop_assert!(!shown.contains("/home"), "{} of {}", shown, text);
        prop_assert_eq!(redaction.text(&shown), shown.clone());
    }

    #[test]
    fn no_text_makes_it_panic(text in ".{0,80}", names in proptest::collection::vec(".{0,6}", 0..4)) {
        let mut redaction = Redaction::new(&names);
        redaction.learn(&text);
        redaction.text(&text);
        redaction.argument(&text);
    }

    #[test]
    fn no_slashes_make_it_panic(text in "[/~.@:= a…é-]{0,40}") {
        let redaction = Redaction::new(["é", "aé", "/a", "/", "//"]);
        redaction.text(&text);
        redaction.argument(&text);
    }
}
