//! `leveloff run --blame` never changes how a program ends, whatever the program is and does: same exit code, same output.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::stage::{LEVELOFF, NOBODY, Stage, cannot_run_here, is_root, wait_until};

/// Bytes between two samples on average.
const OFTEN: &str = "16384";

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

/// Has its own malloc, which takes from one large array and never gives back.
const OWN_MALLOC: &str = "#include <stddef.h>
#include <string.h>
static _Alignas(16) char room[64 << 20];
static size_t used;
void *malloc(size_t length) {
  size_t at = __atomic_fetch_add(&used, (length + 31) & ~(size_t)15, __ATOMIC_RELAXED);
  if (at + length + 16 > sizeof room) return NULL;
  *(size_t *)(room + at) = length;
  return room + at + 16;
}
void free(void *block) { (void)block; }
void *calloc(size_t count, size_t length) { return malloc(count * length); }
void *realloc(void *block, size_t length) {
  void *moved = malloc(length);
  if (moved && block) {
    size_t kept = *(size_t *)((char *)block - 16);
    memcpy(moved, block, kept < length ? kept : length);
  }
  return moved;
}
void *memalign(size_t alignment, size_t length) {
  return (void *)(((size_t)malloc(length + alignment) + alignment) & ~(alignment - 1));
}
void *aligned_alloc(size_t alignment, size_t length) { return memalign(alignment, length); }
int posix_memalign(void **out, size_t alignment, size_t length) { *out = memalign(alignment, length); return *out ? 0 : 12; }
";

/// A preloaded malloc that jumps out of the call when it is asked for a certain length.
const JUMPING_MALLOC: &str = "#define _GNU_SOURCE
#include <dlfcn.h>
#include <setjmp.h>
#include <stddef.h>
jmp_buf *leveloff_test_target;
void *malloc(size_t length) {
  static void *(*real)(size_t);
  if (!real) real = (void *(*)(size_t))dlsym(RTLD_NEXT, \"malloc\");
  if (length == 54321 && leveloff_test_target) longjmp(*leveloff_test_target, 1);
  return real(length);
}
";
const JUMPED_OVER: &str = "#include <dlfcn.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
static jmp_buf target;
int main(void) {
  jmp_buf **place = dlsym(RTLD_DEFAULT, \"leveloff_test_target\");
  volatile int jumps = 0, allocated = 0;
  if (place) *place = &target;
  for (volatile int i = 0; i < 2000; i++) {
    if (setjmp(target)) { jumps++; continue; }
    void *volatile block = malloc(i % 2 ? 54321 : 30000);
    allocated += block != NULL;
    free(block);
  }
  printf(\"%d jumps %d blocks\\n\", jumps, allocated);
  return 9;
}
";

/// Forks in the handler of a timer's signal, which interrupts malloc now and then.
const FORKS_IN_HANDLER: &str = "#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile int forks, wrong;
static void handle(int signal) {
  (void)signal;
  pid_t child = fork();
  if (child == 0) _exit(11);
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 11) wrong++;
  forks++;
}
int main(void) {
  struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
  sigaction(SIGALRM, &action, NULL);
  struct itimerval often = {{0, 2000}, {0, 2000}};
  setitimer(ITIMER_REAL, &often, NULL);
  while (forks < 100) {
    void *volatile block = malloc(5000 + forks);
    block = realloc(block, 30000);
    free(block);
  }
  struct itimerval never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &never, NULL);
  printf(\"%d wrong\\n\", wrong);
  return 6;
}
";

/// Asks libc for something that it allocates for while it holds a lock. The library must not ask for the same.
const ASKS_LIBC: &str = "#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
int main(void) {
  pthread_attr_t attributes;
  for (int i = 0; i < 20; i++) {
    if (pthread_getattr_np(pthread_self(), &attributes)) return 1;
    pthread_attr_destroy(&attributes);
  }
  puts(\"done\");
  return 2;
}
";

/// A thousand threads that live at the same time.
const THREADS: &str = "#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static pthread_barrier_t all;
static void *work(void *seed) {
  char *kept = malloc(20000 + (size_t)seed);
  pthread_barrier_wait(&all);
  kept = realloc(kept, 60000);
  for (int i = 0; i < 50; i++) free(malloc(3000));
  free(kept);
  return NULL;
}
int main(void) {
  static pthread_t threads[1000];
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 65536);
  pthread_barrier_init(&all, NULL, 1000);
  for (long i = 0; i < 1000; i++)
    if (pthread_create(&threads[i], &small, work, (void *)i)) { puts(\"no thread\"); return 1; }
  for (int i = 0; i < 1000; i++) pthread_join(threads[i], NULL);
  puts(\"joined\");
  return 8;
}
";

/// Removes its segment as soon as it has one.
const UNLINKS: &str = "#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(void) {
  const char *place = getenv(\"LEVELOFF_BLAME_DIR\");
  for (int round = 0; round < 50; round++) {
    for (int i = 0; i < 40; i++) free(malloc(20000));
    DIR *entries = place ? opendir(place) : NULL;
    for (struct dirent *entry; entries && (entry = readdir(entries));) {
      char path[600];
      snprintf(path, sizeof path, \"%s/%s\", place, entry->d_name);
      if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9') unlink(path);
    }
    if (entries) closedir(entries);
  }
  puts(\"done\");
  return 3;
}
";

/// Starts other programs in every way, and ends with the sum of their exit codes.
const EXECUTES: &str = "import os, subprocess, sys
if len(sys.argv) > 1:
    kept = [bytearray(30_000) for _ in range(300)]
    if sys.argv[1] == 'replace':
        os.execv(sys.executable, [sys.executable, sys.argv[0], '5'])
    sys.exit(int(sys.argv[1]))
again = [sys.executable, sys.argv[0]]
codes = [
    subprocess.run([*again, '3']).returncode,
    subprocess.run([*again, 'replace']).returncode,
    os.waitstatus_to_exitcode(os.waitpid(os.posix_spawn(sys.executable, [*again, '4'], os.environ), 0)[1]),
    os.system('exit 6') >> 8,
    subprocess.run(['sh', '-c', 'kill -9 $$']).returncode,
    subprocess.run([*again, '2'], env={}).returncode,
]
print(codes)
sys.exit(sum(codes))
";

/// Compiles: workers that are forked from a pool while threads allocate, each of which starts the compiler.
const COMPILES: &str = "import concurrent.futures, multiprocessing, os, subprocess, sys, threading
def compiled(n):
    source = f'int f{n}(int x) {{ return x * {n}; }}'
    kept = [bytearray(10_000) for _ in range(200)]
    made = subprocess.run(['cc', '-O1', '-S', '-xc', '-', '-o', '-'], input=source, capture_output=True, text=True)
    return made.returncode, f'f{n}' in made.stdout
if __name__ == '__main__':
    stop = threading.Event()
    def allocate():
        while not stop.wait(0.001):
            [bytearray(5_000) for _ in range(100)]
    thread = threading.Thread(target=allocate)
    thread.start()
    for way in ('fork', 'spawn', 'forkserver'):
        context = multiprocessing.get_context(way)
        with concurrent.futures.ProcessPoolExecutor(3, mp_context=context) as pool:
            print(way, sorted(pool.map(compiled, range(6))))
    stop.set()
    thread.join()
    sys.exit(4)
";

/// Allocates until a file says to stop; then its child does, which ends with 9.
const WAITS: &str = "import os, time
kept = []
def keep(count):
    for _ in range(count):
        kept.append(bytearray(20_000))
place = os.environ['LEVELOFF_BLAME_DIR']
open('place', 'w').write(place)
while not os.path.exists('goon'):
    keep(1)
    time.sleep(0.005)
    if len(kept) == 100:
        open('sampled', 'w').write('yes')
keep(500)
if os.fork() == 0:
    keep(500)
    os._exit(9)
code = os.waitstatus_to_exitcode(os.wait()[1])
open('ended.part', 'w').write(str(code))
os.rename('ended.part', 'ended')
";

/// Builds a C program or library; `None` if that cannot be done here.
fn built(
    stage: &Stage,
    name: &str,
    source: &str,
    compiler: &str,
    options: &[&str],
) -> Option<PathBuf> {
    let from = stage.file(&format!("{name}.c"), source);
    let to = stage.path(name);
    let mut command = Command::new(compiler);
    command
        .args(["-O1", "-fno-builtin-malloc", "-o"])
        .arg(&to)
        .arg(from)
        .args(options);
    let output = command.stdin(Stdio::null()).output();
    let is_built = output.is_ok_and(|it| it.status.success());
    if !is_built {
        cannot_run_here(&format!("{compiler} {} does not build", options.concat()));
    }
    is_built.then_some(to)
}

/// Runs a command with and without `--blame`: exit code, output and errors are the same.
#[track_caller]
fn ends_alike(stage: &Stage, command: &[&Path], variables: &[(&str, &str)]) -> Output {
    let variables = variables.iter().copied();
    let alone = Command::new(command[0])
        .args(&command[1..])
        .envs(variables.clone())
        .output()
        .unwrap();
    let mut blamed = stage.leveloff(["run", "--blame", "-o", "run.jsonl", "--"]);
    blamed
        .args(command)
        .envs(variables)
        .env("LEVELOFF_BLAME_PERIOD", OFTEN);
    let blamed = blamed.output().unwrap();
    assert_eq!(blamed.status.code(), alone.status.code(), "{blamed:?}");
    assert_eq!(
        String::from_utf8_lossy(&blamed.stdout),
        String::from_utf8_lossy(&alone.stdout)
    );
    let errors = String::from_utf8_lossy(&blamed.stderr);
    assert!(
        !errors.contains("ld.so") && !errors.contains("Sanitizer"),
        "{errors}"
    );
    std::fs::remove_file(stage.path("run.jsonl")).unwrap();
    alone
}

#[track_caller]
fn program_ends_alike(name: &str, source: &str, options: &[&str], code: i32) {
    let stage = Stage::new();
    if let Some(program) = built(&stage, name, source, "cc", options) {
        let alone = ends_alike(&stage, &[&program], &[]);
        assert_eq!(alone.status.code(), Some(code), "{alone:?}");
    }
}

#[track_caller]
fn script_ends_alike(source: &str, code: i32) {
    let stage = Stage::new();
    let script = stage.file("script.py", source);
    let python = Path::new(crate::stage::python());
    let alone = ends_alike(&stage, &[python, &script], &[]);
    assert_eq!(alone.status.code(), Some(code), "{alone:?}");
}

#[test]
fn fork_in_a_signal_handler() {
    program_ends_alike("handler", FORKS_IN_HANDLER, &[], 6);
}

#[test]
fn a_lock_that_libc_holds_while_it_allocates() {
    // Each has its first sample at another moment.
    for _ in 0..10 {
        program_ends_alike("asks", ASKS_LIBC, &["-pthread"], 2);
    }
}

#[test]
fn a_thousand_threads_at_once() {
    program_ends_alike("threads", THREADS, &["-pthread"], 8);
}

#[test]
fn a_segment_that_is_unlinked() {
    program_ends_alike("unlinks", UNLINKS, &[], 3);
}

#[test]
fn programs_for_musl() {
    let stage = Stage::new();
    for options in [&[][..], &["-static"]] {
        if let Some(program) = built(&stage, "musl", ALLOCATES, "musl-gcc", options) {
            let alone = ends_alike(&stage, &[&program], &[]);
            assert_eq!(alone.status.code(), Some(7), "{alone:?}");
            // As the child of a program for glibc, which passes the variables on.
            let shell = format!("{}; echo $?", program.display());
            ends_alike(
                &stage,
                &[Path::new("/bin/sh"), Path::new("-c"), Path::new(&shell)],
                &[],
            );
        }
    }
}

#[test]
fn a_program_whose_own_malloc_is_linked_in() {
    let stage = Stage::new();
    let with_malloc = format!("{OWN_MALLOC}\n{ALLOCATES}");
    for options in [&[][..], &["-static"], &["-no-pie"], &["-rdynamic"]] {
        if let Some(program) = built(&stage, "own", &with_malloc, "cc", options) {
            let alone = ends_alike(&stage, &[&program], &[]);
            assert_eq!(alone.status.code(), Some(7), "{alone:?}");
        }
    }
}

#[test]
fn another_malloc_preloaded_before_and_behind() {
    let stage = Stage::new();
    let library = built(&stage, "own.so", OWN_MALLOC, "cc", &["-shared", "-fPIC"]);
    let program = built(&stage, "allocates", ALLOCATES, "cc", &[]);
    let (Some(library), Some(program)) = (library, program) else {
        return;
    };
    let named = library.to_str().unwrap();
    let behind = ends_alike(&stage, &[&program], &[("LD_PRELOAD", named)]);
    assert_eq!(behind.status.code(), Some(7), "{behind:?}");
    let shell = format!(
        "LD_PRELOAD={named}:$LD_PRELOAD {}; echo $?",
        program.display()
    );
    let before = ends_alike(
        &stage,
        &[Path::new("/bin/sh"), Path::new("-c"), Path::new(&shell)],
        &[],
    );
    assert_eq!(before.stdout, b"done\n7\n");
}

#[test]
fn a_jump_out_of_malloc() {
    let stage = Stage::new();
    let library = built(
        &stage,
        "jumping.so",
        JUMPING_MALLOC,
        "cc",
        &["-shared", "-fPIC", "-ldl"],
    );
    let program = built(&stage, "jumped", JUMPED_OVER, "cc", &["-ldl"]);
    if let (Some(library), Some(program)) = (library, program) {
        let alone = ends_alike(
            &stage,
            &[&program],
            &[("LD_PRELOAD", library.to_str().unwrap())],
        );
        assert_eq!(alone.stdout, b"1000 jumps 1000 blocks\n");
    }
}

#[test]
fn programs_that_execute_others_in_every_way() {
    script_ends_alike(EXECUTES, 3 + 5 + 4 + 6 - 9 + 2);
}

#[test]
fn compile_workers() {
    script_ends_alike(COMPILES, 4);
}

#[test]
fn a_setuid_program() {
    if !is_root() {
        return cannot_run_here("only root can make a program of another user setuid");
    }
    let stage = Stage::new();
    let Some(program) = built(&stage, "setuid", ALLOCATES, "cc", &[]) else {
        return;
    };
    std::os::unix::fs::chown(&program, Some(NOBODY), None).unwrap();
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o4755)).unwrap();
    assert_eq!(std::fs::metadata(&program).unwrap().uid(), NOBODY);
    let alone = ends_alike(&stage, &[&program], &[]);
    assert_eq!(alone.status.code(), Some(7), "{alone:?}");
}

#[test]
fn a_full_disk() {
    let stage = Stage::new();
    let Some(program) = built(&stage, "full", ALLOCATES, "cc", &[]) else {
        return;
    };
    // All places for segments have room for the library, and not for a segment.
    let script = format!(
        "mount -t tmpfs -o size=400k none /var/tmp && '{LEVELOFF}' run --blame -o run.jsonl -- '{}'; echo $?; \
         ls /var/tmp",
        program.display()
    );
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--mount", "sh", "-c", &script]);
    command
        .current_dir(stage.directory())
        .env("LEVELOFF_HISTORY", "0");
    let Ok(output) = command.env("LEVELOFF_BLAME_PERIOD", OFTEN).output() else {
        return cannot_run_here("there is no unshare");
    };
    let text = String::from_utf8_lossy(&output.stdout);
    if text.is_empty() || String::from_utf8_lossy(&output.stderr).contains("mount:") {
        return cannot_run_here("no file system can be mounted in a namespace");
    }
    assert_eq!(text, "done\n7\n", "{output:?}");
}

#[test]
fn a_recorder_that_is_killed() {
    let stage = Stage::new();
    let script = stage.file("waits.py", WAITS);
    let mut command = stage.leveloff(["run", "--blame", "-o", "run.jsonl", "--"]);
    command.arg(crate::stage::python()).arg(script);
    command.env("LEVELOFF_BLAME_PERIOD", OFTEN);
    let quiet = command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = quiet.spawn().unwrap();
    let read = |name: &str| std::fs::read_to_string(stage.path(name)).unwrap_or_default();
    wait_until("some samples", || read("sampled") == "yes");
    child.kill().unwrap();
    child.wait().unwrap();
    stage.file("goon", "");
    wait_until("the program's end", || read("ended") == "9");
    // The test removes it, as no other process does.
    std::fs::remove_dir_all(read("place")).unwrap();
}
