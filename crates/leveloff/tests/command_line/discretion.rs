//! What reports must not contain: secrets never, with `--redact` no names and paths either.

use crate::stage::Stage;

/// A recording from another machine, with names and secrets in every field that may hold them.
fn recording() -> String {
    let header = r#"{"header":{"format":"leveloff-recording","version":1,"tool":"0.1.0","started_unix":1794808086.25,"host":"wilhelmina-box.lab.example","kernel":"6.18.44-wilhelmina","command":["/home/wilhelmina/venv/bin/python","/home/wilhelmina/secret-project/train.py","--data","/mnt/lab/data set/x.bin","--token","hf_abcdefghijklmnopqrstuvwxyz0123","--api-key=sk-0123456789abcdefghij"],"interval_s":1.0,"pss_budget_percent":0.5}}"#;
    let trainer = r#"{"process":{"n":0,"pid":100,"start":5000,"ppid":1,"role":"trainer","comm":"python","cmd":["/home/wilhelmina/venv/bin/python","/home/wilhelmina/secret-project/train.py","--token","hf_abcdefghijklmnopqrstuvwxyz0123"],"why":"maps /home/wilhelmina/venv/lib/libtorch_python.so"}}"#;
    let software = r#"{"software":{"n":0,"python":"3.11","packages":{"torch":"2.8.0"},"variables":{"MALLOC_CONF":"stats_print:true,/home/wilhelmina/stats"}}}"#;
    let gap = r#"{"gap":{"of":"pss","n":0,"text":"cannot read /home/wilhelmina/x on wilhelmina-box: permission denied"}}"#;
    let mut text = [header, trainer, software, gap].join("\n") + "\n";
    for step in 0..300_u64 {
        let anon = 700_000_000 + 3_000_000 * step;
        let cgroup = if step == 0 {
            r#","g":{"v":2,"path":"/user.slice/user-wilhelmina.slice","limit":64000000000,"cur":1}"#
        } else {
            ""
        };
        text += &format!(
            r#"{{"s":{{"t":{step}.0,"step":{step},"p":[{{"n":0,"state":"S","anon":{anon},"file":1000000,"threads":4}}]{cgroup}}}}}"#
        );
        text += "\n";
    }
    text
}

const FORMATS: [&str; 4] = ["html", "markdown", "json", "svg"];

fn report(stage: &Stage, format: &str, more: &[&str]) -> String {
    let arguments = ["report", "run.jsonl", "--format", format, "-o", "-"];
    let written = stage.ask(&[&arguments[..], more].concat());
    written.well().stdout
}

#[test]
fn secrets_are_in_no_report() {
    let stage = Stage::new();
    stage.file("run.jsonl", recording());
    for format in FORMATS {
        let text = report(&stage, format, &[]);
        for secret in ["hf_abcdef", "sk-0123456789"] {
            assert!(!text.contains(secret), "{secret} is in {format}");
        }
        assert!(format == "svg" || text.contains("train.py"), "{format}");
    }
}

#[test]
fn names_and_paths_are_in_no_redacted_report() {
    let stage = Stage::new();
    stage.file("run.jsonl", recording());
    for format in FORMATS {
        let text = report(&stage, format, &["--redact"]);
        for name in [
            "wilhelmina",
            "lab.example",
            "/home/",
            "/mnt/",
            "secret-project",
            "data set",
        ] {
            let place = text.to_lowercase().find(name);
            let around = place.map(|at| text[at.saturating_sub(60)..].chars().take(120));
            assert!(
                place.is_none(),
                "{name} in {format}: {:?}",
                around.map(String::from_iter)
            );
        }
        // What helps stays.
        assert!(format == "svg" || text.contains("train.py"), "{format}");
    }
}

#[test]
fn a_redacted_comparison_names_no_user() {
    let stage = Stage::new();
    std::fs::create_dir(stage.path("wilhelmina")).unwrap();
    stage.file("wilhelmina/run.jsonl", recording());
    stage.file("run.jsonl", recording());
    for format in ["text", "html", "markdown", "json"] {
        let arguments = [
            "compare",
            "wilhelmina/run.jsonl",
            "run.jsonl",
            "--redact",
            "--format",
            format,
        ];
        let text = stage.ask(&arguments).well().stdout;
        assert!(!text.contains("wilhelmina"), "{format}: {text}");
    }
}
