//! `leveloff run --blame`: the line that allocates is named, and no program notices.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::stage::{Ended, LEVELOFF, Stage, cannot_run_here, python, wait_until};

/// Keeps more and more until its input ends. Then lists the directory that the library writes to.
const KEEPS: &str = "import os, select, sys
kept = []
while not select.select([sys.stdin], [], [], 0.02)[0]:
    bytearray(100_000)
    kept.append(bytearray(100_000))
print('kept', flush=True)
print(sorted(os.listdir(os.environ['LEVELOFF_BLAME_DIR'])))
sys.exit(4)
";
/// The line of [`KEEPS`] that keeps.
const KEEPING_LINE: u64 = 5;

/// Allocates some MiB, and ends with 7.
const ALLOCATES: &str = "#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  for (int i = 0; i < 400; i++) {
    char *block = malloc(20000);
    memset(block, 1, 20000);
    free(block);
  }
  puts(\"done\");
  return 7;
}
";

/// Threads that allocate while the process forks, executes other programs, and loads and unloads a library.
const STORM: &str = "#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static void *work(void *seed) {
  unsigned s = (unsigned)(size_t)seed * 7919u + 1;
  void *kept[32] = {0};
  for (int i = 0; i < 300; i++) {
    s = s * 1103515245u + 12345u;
    int at = (s >> 16) % 32;
    size_t length = (s >> 8) % 60000 + 1;
    switch ((s >> 24) % 4) {
    case 0: free(kept[at]); kept[at] = malloc(length); break;
    case 1: kept[at] = realloc(kept[at], length); break;
    case 2: free(kept[at]); kept[at] = calloc(1, length); break;
    default: free(kept[at]); if (posix_memalign(&kept[at], 64, length)) kept[at] = NULL;
    }
  }
  for (int at = 0; at < 32; at++) free(kept[at]);
  return NULL;
}
int main(void) {
  int wrong = 0;
  for (int round = 0; round < 3; round++) {
    pthread_t threads[48];
    for (int i = 0; i < 48; i++) pthread_create(&threads[i], NULL, work, (void *)(size_t)(round * 48 + i));
    for (int i = 0; i < 9; i++) {
      pid_t child = fork();
      if (child == 0) {
        work((void *)(size_t)i);
        if (i % 3 == 0) execl(\"/bin/true\", \"true\", (char *)NULL);
        _exit(5);
      }
      int status;
      waitpid(child, &status, 0);
      wrong += !WIFEXITED(status) || WEXITSTATUS(status) != (i % 3 == 0 ? 0 : 5);
    }
    for (int i = 0; i < 48; i++) pthread_join(threads[i], NULL);
    void *library = dlopen(\"libm.so.6\", RTLD_NOW);
    if (library) dlclose(library);
  }
  printf(\"%d wrong\\n\", wrong);
  return wrong ? 1 : 3;
}
";

/// Builds a C program; `None` if that cannot be done here.
fn built(stage: &Stage, source: &str, compiler: &str, options: &[&str]) -> Option<PathBuf> {
    let from = stage.file("program.c", source);
    let to = stage.path(&format!("program-{compiler}{}", options.concat()));
    let mut command = Command::new(compiler);
    command.args(["-O1", "-o"]).arg(&to).arg(from).args(options);
    let output = command.stdin(Stdio::null()).output();
    output.is_ok_and(|it| it.status.success()).then_some(to)
}

/// Runs a program with and without `--blame`: exit code and output are the same.
#[track_caller]
fn ends_alike(stage: &Stage, program: &Path) {
    let alone = Command::new(program).output().unwrap();
    let mut blamed = stage.leveloff(["run", "--blame", "-o", "run.jsonl", "--"]);
    blamed.arg(program).env("LEVELOFF_BLAME_PERIOD", "16384");
    let blamed = blamed.output().unwrap();
    assert_eq!(blamed.status.code(), alone.status.code(), "{blamed:?}");
    assert_eq!(blamed.stdout, alone.stdout);
    std::fs::remove_file(stage.path("run.jsonl")).unwrap();
}

#[test]
fn the_line_that_keeps_is_named_and_the_segment_has_no_name_meanwhile() {
    let stage = Stage::new();
    let program = stage.file("keeps.py", KEEPS);
    let arguments = ["run", "--blame", "-i", "100ms", "-o", "run.jsonl", "--"];
    let mut command = stage.leveloff(arguments);
    command
        .arg(python())
        .arg(program)
        .env("LEVELOFF_BLAME_PERIOD", "65536");
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = piped.stderr(Stdio::piped()).spawn().unwrap();
    let recording = stage.path("run.jsonl");
    wait_until("a reading of what is kept", || {
        let text = std::fs::read_to_string(&recording).unwrap_or_default();
        text.lines().any(|line| line.starts_with("{\"held\""))
    });
    drop(child.stdin.take());
    let ended = Ended::of(child);
    assert_eq!(ended.status.code(), Some(4), "{ended:?}");
    assert_eq!(ended.stdout, "kept\n['libleveloff_blame.so']\n");
    let text = std::fs::read_to_string(recording).unwrap();
    let rows = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let lines: Vec<Value> = rows.filter_map(|row| row.get("line").cloned()).collect();
    let files = lines.iter().filter_map(|line| line["files"].as_object());
    let mut files = files.flatten();
    let number = files.find(|(_, file)| file.as_str().unwrap().ends_with("keeps.py"));
    let number: u64 = number.unwrap().0.parse().unwrap();
    let is_keeping = |line: &&Value| {
        line["stack"][0][1].as_u64() == Some(number)
            && line["stack"][0][2].as_u64() == Some(KEEPING_LINE)
    };
    let keeping = lines.iter().find(is_keeping);
    let keeping = keeping.unwrap_or_else(|| panic!("{lines:?}"));
    assert_eq!(keeping["source"], "kept.append(bytearray(100_000))");
}

#[test]
fn programs_of_every_kind_end_as_without_it() {
    let stage = Stage::new();
    let kinds: [(&str, &[&str]); 6] = [
        ("cc", &[]),
        ("cc", &["-static"]),
        ("cc", &["-fsanitize=address"]),
        ("cc", &["-fsanitize=thread"]),
        ("c++", &["-xc++"]),
        ("musl-gcc", &[]),
    ];
    for (compiler, options) in kinds {
        let source = match compiler {
            "c++" => {
                "#include <cstdio>\nint main() { auto *p = new char[3000000]; p[5] = 1; delete[] p; std::puts(\"x\"); return 2; }"
            }
            _ => ALLOCATES,
        };
        match built(&stage, source, compiler, options) {
            Some(program) => ends_alike(&stage, &program),
            None => cannot_run_here(&format!("{compiler} {} does not build", options.concat())),
        }
    }
}

#[test]
fn threads_forks_and_executed_programs_survive_frequent_samples() {
    let stage = Stage::new();
    match built(&stage, STORM, "cc", &["-pthread", "-ldl"]) {
        Some(program) => ends_alike(&stage, &program),
        None => cannot_run_here("there is no C compiler"),
    }
}

#[test]
fn a_limit_on_files_does_not_end_the_program() {
    let stage = Stage::new();
    let Some(program) = built(&stage, ALLOCATES, "cc", &[]) else {
        return cannot_run_here("there is no C compiler");
    };
    let script = format!("ulimit -f 8\n{}\necho $?", program.display());
    let mut command = Command::new(LEVELOFF);
    command.env("LEVELOFF_HISTORY", "0");
    command.current_dir(stage.directory());
    command.args([
        "run",
        "--blame",
        "-o",
        "run.jsonl",
        "--",
        "sh",
        "-c",
        &script,
    ]);
    let output = command
        .env("LEVELOFF_BLAME_PERIOD", "16384")
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "done\n7\n");
}
