//! The segments of all processes of a run.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use leveloff_model::allocation::{BlockKind, StackFrame};
use leveloff_model::process::Pid;
use leveloff_model::sample::Gap;

use super::gap;
use crate::line_table::line;
use crate::segment::{RawFrame, Segment, SegmentInfo, StackCounts};
use crate::site_table::SiteTable;
use crate::symbols::Symbols;

/// Frames that the interpreter puts between others.
const SHIM: &str = "<shim>";

/// Reads segments, and adds their stacks up by line.
#[derive(Debug)]
pub struct Follower {
    directory: PathBuf,
    processes: Vec<Followed>,
    symbols: Symbols,
    table: SiteTable,
    /// What could not be seen, since the last call.
    pub gaps: Vec<Gap>,
    reported: HashSet<String>,
}

/// One process.
#[derive(Debug)]
struct Followed {
    segment: Segment,
    info: SegmentInfo,
    pid: Pid,
    /// The site of each stack.
    sites: HashMap<usize, usize>,
    /// Native functions by return address.
    functions: HashMap<u64, Vec<StackFrame>>,
}

impl Follower {
    pub fn new(directory: &Path) -> Follower {
        Follower {
            directory: directory.to_owned(),
            processes: Vec::new(),
            symbols: Symbols::default(),
            table: SiteTable::default(),
            gaps: Vec::new(),
            reported: HashSet::new(),
        }
    }

    /// What the sites hold since the last [`Follower::poll`].
    pub fn table(&self) -> &SiteTable {
        &self.table
    }

    /// Reads all segments, and says when. `None` if no process is alive.
    pub fn poll(&mut self) -> Option<Instant> {
        self.find_segments();
        self.processes.retain(|process| is_alive(process.pid));
        let mut processes = std::mem::take(&mut self.processes);
        let at = Instant::now();
        let counts: Vec<Vec<StackCounts>> = processes.iter_mut().map(Followed::read).collect();
        // Looking up names takes seconds for a large library, so all is counted before.
        self.table.clear();
        for (process, counts) in processes.iter_mut().zip(&counts) {
            self.tell_gaps(&process.info);
            self.take(process, counts);
        }
        self.processes = processes;
        (!self.processes.is_empty()).then_some(at)
    }

    /// Opens new segments, and removes their names: a file without a name cannot be truncated under the program.
    fn find_segments(&mut self) {
        let Ok(entries) = fs::read_dir(&self.directory) else {
            return;
        };
        for entry in entries.flatten() {
            let is_segment = entry
                .file_name()
                .to_str()
                .is_some_and(|name| name.bytes().all(|it| it.is_ascii_digit() || it == b'-'));
            if is_segment && let Ok(Some(mut segment)) = Segment::open(&entry.path()) {
                let _ = fs::remove_file(entry.path());
                let Ok((info, _)) = segment.read() else {
                    continue;
                };
                let pid = Pid(i32::try_from(info.pid).unwrap_or(0));
                // A program that executes another one has a second segment, which replaces the first.
                self.processes.retain(|process| process.pid != pid);
                self.processes.push(Followed {
                    segment,
                    info,
                    pid,
                    sites: HashMap::new(),
                    functions: HashMap::new(),
                });
            }
        }
    }

    fn take(&mut self, process: &mut Followed, counts: &[StackCounts]) {
        self.name_functions(process, counts);
        for stack in counts {
            let site = match process.sites.get(&stack.index) {
                Some(site) => *site,
                None => {
                    let (kind, frames) = process.stack(stack.index);
                    let site = self.table.site_of(process.pid, kind, &frames);
                    process.sites.insert(stack.index, site);
                    site
                }
            };
            if self.table.add(site, stack) {
                let (_, frames) = process.stack(stack.index);
                self.table.show_by(site, &frames);
            }
        }
    }

    /// Looks up the native functions of stacks that are new.
    fn name_functions(&mut self, process: &mut Followed, counts: &[StackCounts]) {
        let new = counts
            .iter()
            .filter(|stack| !process.sites.contains_key(&stack.index));
        let mut addresses: Vec<u64> = new
            .flat_map(|stack| process.segment.frames(stack.index).1)
            .filter_map(|frame| match frame {
                RawFrame::Native(address) => Some(address),
                RawFrame::Python { .. } => None,
            })
            .filter(|address| !process.functions.contains_key(address))
            .collect();
        addresses.sort_unstable();
        addresses.dedup();
        if !addresses.is_empty() {
            let found = self.symbols.look_up(process.info.pid, &addresses);
            process.functions.extend(found);
        }
    }

    fn tell_gaps(&mut self, info: &SegmentInfo) {
        let mut tell = |is_so: bool, text: &str| {
            if is_so && self.reported.insert(text.to_owned()) {
                self.gaps.push(gap(text.to_owned()));
            }
        };
        tell(
            info.lacks_native_stacks(),
            "lines of native code are not known: the C library is older than glibc 2.35",
        );
        tell(
            info.has_foreign_malloc(),
            "a library that is preloaded before leveloff's has its own malloc: what it allocates is not seen",
        );
        tell(
            info.has_unknown_python(),
            "lines of Python code are not known: only the standard builds of 3.9 to 3.14 are supported",
        );
        tell(
            info.dropped > info.samples / 20,
            "more than 5 % of the sampled blocks found no room: shares of lines are uncertain",
        );
    }
}

impl Followed {
    fn read(&mut self) -> Vec<StackCounts> {
        let Ok((info, counts)) = self.segment.read() else {
            return Vec::new();
        };
        self.info = info;
        counts
    }

    /// The frames of a stack, with names.
    fn stack(&mut self, index: usize) -> (BlockKind, Vec<StackFrame>) {
        let (kind, raw) = self.segment.frames(index);
        let frames = raw.into_iter().flat_map(|frame| self.frames(frame));
        (kind, frames.collect())
    }

    /// The functions of a frame: none for one of the interpreter's own, several where some are inlined.
    fn frames(&mut self, frame: RawFrame) -> Vec<StackFrame> {
        let unknown = || StackFrame {
            function: "?".to_owned(),
            file: None,
            line: None,
            is_python: false,
        };
        match frame {
            RawFrame::Native(address) => match self.functions.get(&address) {
                Some(functions) => functions.clone(),
                None => vec![unknown()],
            },
            RawFrame::Python { code, instruction } => {
                self.python_frame(code, instruction).into_iter().collect()
            }
        }
    }

    fn python_frame(&mut self, code: u64, instruction: u64) -> Option<StackFrame> {
        let python = self.info.python;
        let code = self.segment.code(code)?;
        let line = line(python, code.first_line, &code.lines, instruction);
        (code.file != SHIM).then(|| StackFrame {
            function: code.name.clone(),
            file: Some(code.file.clone()),
            line: line.or(Some(code.first_line)),
            is_python: true,
        })
    }
}

/// Whether a process runs: a zombie holds no memory.
fn is_alive(pid: Pid) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.0));
    stat.is_ok_and(|stat| {
        let state = stat
            .rsplit(')')
            .next()
            .and_then(|rest| rest.trim_start().chars().next());
        !matches!(state, Some('Z' | 'X') | None)
    })
}
