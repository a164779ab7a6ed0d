//! The library in a program that runs already: loaded, used and taken out as a debugger's script does it, in the Python that
//! is here. Only asking for that takes Python 3.14.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use leveloff_testkit::cannot_run_here;

use crate::preload::PreloadDirectory;
use crate::segment::{RawFrame, Segment};

/// Attaches, allocates in Python, in a C library that is loaded later, in a thread and in a child, and detaches. Then the library's code
/// is made inaccessible: a call that still leads there ends the program.
const SCRIPT: &str = "import ctypes, os, sys, threading
place, later = sys.argv[1:]
library = ctypes.PyDLL(place + '/libleveloff_blame.so')
attach = library.leveloff_blame_attach
attach.argtypes = [ctypes.c_char_p, ctypes.c_uint64]
assert library.leveloff_blame_detach() == 0
assert attach(place.encode(), 16384) == 0
assert attach(place.encode(), 16384) == 1
kept = []
def keep():
    for _ in range(200):
        kept.append(bytearray(50_000))
keep()
take = ctypes.CDLL(later).take
take.restype, take.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
def keep_in_c():
    return [take(50_000) for _ in range(200)]
in_c = keep_in_c()
thread = threading.Thread(target=keep)
thread.start()
thread.join()
if os.fork() == 0:
    keep()
    os._exit(0)
assert os.wait()[1] == 0
assert library.leveloff_blame_detach() == 0
maps = open('/proc/self/maps').read().splitlines()
assert not any(f'{place}/{os.getpid()}-' in line for line in maps)
code = next(line for line in maps if 'libleveloff_blame.so' in line and ' r-xp ' in line)
start, end = (int(it, 16) for it in code.split()[0].split('-'))
libc = ctypes.CDLL(None)
libc.mprotect.argtypes = [ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int]
free = libc.free
free.argtypes = [ctypes.c_void_p]
assert libc.mprotect(start, end - start, 0) == 0
del kept[:]
for block in in_c:
    free(block)
keep(), keep_in_c()
thread = threading.Thread(target=keep)
thread.start()
thread.join()
import decimal, json
if os.fork() == 0:
    keep()
    os._exit(0)
assert os.wait()[1] == 0
print(os.getpid(), flush=True)
os._exit(3)
";
const LATER: &str = "#include <stdlib.h>\nvoid *take(size_t length) { return malloc(length); }\n";

/// Sampled blocks by the innermost Python function and line.
fn blocks_by_line(path: &Path) -> HashMap<(String, u32), u64> {
    let mut segment = Segment::open(path)
        .unwrap()
        .expect("a segment of this version");
    let (info, counts) = segment.read().unwrap();
    let mut blocks = HashMap::new();
    for stack in counts {
        let (_, frames) = segment.frames(stack.index);
        let innermost = frames.iter().find_map(|frame| match frame {
            RawFrame::Python { code, instruction } => Some((*code, *instruction)),
            RawFrame::Native(_) => None,
        });
        if let Some((code, instruction)) = innermost
            && let Some(code) = segment.code(code)
        {
            let line =
                crate::line_table::line(info.python, code.first_line, &code.lines, instruction);
            let function = code.name.rsplit('.').next().unwrap_or_default().to_owned();
            *blocks.entry((function, line.unwrap_or(0))).or_default() += stack.live_blocks;
        }
    }
    blocks
}

#[test]
fn the_library_is_attached_and_taken_out_whole() {
    let Ok(directory) = PreloadDirectory::create() else {
        return cannot_run_here("the preload library cannot be used here");
    };
    let place = directory.path();
    fs::write(place.join("later.c"), LATER).unwrap();
    fs::write(place.join("script.py"), SCRIPT).unwrap();
    let later = place.join("later.so");
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .args([&later, &place.join("later.c")])
        .status();
    if !built.is_ok_and(|status| status.success()) {
        return cannot_run_here("there is no C compiler");
    }
    let mut command = Command::new("python3");
    command.arg(place.join("script.py")).arg(place).arg(&later);
    let Ok(output) = command.output() else {
        return cannot_run_here("there is no python3");
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    let pid = text(&output.stdout).trim().to_owned();
    let own = blocks_by_line(&place.join(format!("{pid}-0")));
    let held = |function: &str, line| own.get(&(function.to_owned(), line)).copied().unwrap_or(0);
    // 20 MB and 10 MB, a sample for each 16 KiB; the governor takes fewer where a machine is fast.
    assert!(held("keep", 12) > 40, "{own:?}");
    assert!(
        own.iter()
            .any(|((name, line), blocks)| *line == 17 && name != "keep" && *blocks > 20),
        "{own:?}"
    );
    let children = fs::read_dir(place).unwrap().flatten().map(|it| it.path());
    let is_child = |path: &std::path::PathBuf| {
        let name = path
            .file_name()
            .and_then(|it| it.to_str())
            .unwrap_or_default();
        name.ends_with("-0") && name != format!("{pid}-0")
    };
    let children: Vec<_> = children.filter(is_child).collect();
    assert_eq!(
        children.len(),
        1,
        "the second child is not sampled: {children:?}"
    );
    let child = blocks_by_line(&children[0]);
    assert!(
        child
            .keys()
            .all(|(name, line)| (name.as_str(), *line) == ("keep", 12)),
        "{child:?}"
    );
}
