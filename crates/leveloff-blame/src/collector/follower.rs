//! The segments of all processes of a run.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use leveloff_model::allocation::{BlockKind, MissedBlocks, StackFrame};
use leveloff_model::process::Pid;
use leveloff_model::sample::Gap;

use super::gap;
use crate::line_table::line;
use crate::segment::{RawFrame, Segment, SegmentInfo, StackCounts};
use crate::site_table::{NamedSite, SiteTable, StackPlace, frames_kept, is_import_machinery};
use crate::symbols::{look_up, maps, same_file};

/// Frames that the interpreter puts between others.
const SHIM: &str = "<shim>";

/// Reads segments, and adds their stacks up by line.
#[derive(Debug)]
pub struct Follower {
    directory: PathBuf,
    processes: Vec<Followed>,
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
    /// The site of each stack that held something.
    sites: HashMap<usize, usize>,
    /// Native functions by return address.
    functions: HashMap<u64, Vec<StackFrame>>,
}

impl Follower {
    pub fn new(directory: &Path) -> Follower {
        Follower {
            directory: directory.to_owned(),
            processes: Vec::new(),
            table: SiteTable::default(),
            gaps: Vec::new(),
            reported: HashSet::new(),
        }
    }

    /// What the sites hold since the last [`Follower::poll`].
    pub fn table(&self) -> &SiteTable {
        &self.table
    }

    /// Sampled blocks of the living processes that are in no site; `None` if all of them are.
    pub fn missed(&self) -> Option<MissedBlocks> {
        let mut all = MissedBlocks::default();
        for process in &self.processes {
            all.missed += process.info.dropped;
            all.sampled += process.info.samples;
        }
        (all.missed > 0).then_some(all)
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

    /// The site of a process's stack, if it held anything.
    pub fn site_of_stack(&self, (pid, stack): (Pid, u32)) -> Option<usize> {
        let mut processes = self.processes.iter();
        let process = processes.find(|process| process.pid == pid)?;
        process.sites.get(&(stack as usize)).copied()
    }

    /// Names the heaviest stacks of these sites.
    pub fn name(&mut self, wanted: &[usize]) {
        for site in wanted {
            let named = self
                .table
                .unnamed(*site)
                .and_then(|place| self.named(place));
            if let Some(named) = named {
                self.table.name(*site, named);
            }
        }
    }

    fn named(&mut self, place: StackPlace) -> Option<NamedSite> {
        let mut processes = self.processes.iter_mut();
        let process = processes.find(|process| process.pid == place.pid)?;
        Some(process.named_site(place.index))
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
        process.name_native_stacks(counts);
        for stack in counts {
            let site = match process.sites.get(&stack.index) {
                Some(site) => *site,
                // Most stacks of a start hold nothing by the time they are seen, and never again.
                None if stack.live_blocks == 0 => continue,
                None => {
                    let (kind, frames) = process.deciding_frames(stack.index);
                    let site = self.table.site_of(kind, &frames);
                    process.sites.insert(stack.index, site);
                    site
                }
            };
            self.table.add(site, process.pid, stack);
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

    /// Looks up the native functions of stacks that hold something, are new, and have no Python frames.
    fn name_native_stacks(&mut self, counts: &[StackCounts]) {
        let is_new =
            |stack: &&StackCounts| stack.live_blocks > 0 && !self.sites.contains_key(&stack.index);
        let new = counts.iter().filter(is_new);
        let stacks: Vec<Vec<RawFrame>> = new
            .map(|stack| self.segment.frames(stack.index).1)
            .collect();
        let is_native = |stack: &&Vec<RawFrame>| !stack.iter().any(is_python);
        let native = stacks.iter().filter(is_native).flatten().copied();
        self.name_functions(native);
    }

    /// Looks up native functions that are not known yet.
    fn name_functions(&mut self, frames: impl Iterator<Item = RawFrame>) {
        let mut addresses: Vec<u64> = frames
            .filter_map(|frame| match frame {
                RawFrame::Native(address) => Some(address),
                RawFrame::Python { .. } => None,
            })
            .filter(|address| !self.functions.contains_key(address))
            .collect();
        addresses.sort_unstable();
        addresses.dedup();
        if !addresses.is_empty() {
            let found = look_up(self.info.pid, &addresses);
            self.functions.extend(found);
        }
    }

    /// The frames among which the one is that stands for a stack. A Python frame comes before native ones, so these are not
    /// named where there is one.
    fn deciding_frames(&mut self, index: usize) -> (BlockKind, Vec<StackFrame>) {
        let (kind, mut raw) = self.segment.frames(index);
        if raw.iter().any(is_python) {
            raw.retain(is_python);
        }
        let frames = raw.into_iter().flat_map(|frame| self.frames(frame));
        (kind, frames.collect())
    }

    /// What a recording keeps of a stack, with names.
    fn named_site(&mut self, index: usize) -> NamedSite {
        let (kind, mut raw) = self.segment.frames(index);
        self.remove_interpreter(&mut raw);
        let known: Vec<(RawFrame, StackFrame)> = raw
            .into_iter()
            .flat_map(|frame| self.frames(frame).into_iter().map(move |it| (frame, it)))
            .collect();
        let (raw, frames): (Vec<RawFrame>, Vec<StackFrame>) = known.into_iter().unzip();
        let mut kept = frames_kept(&frames);
        // Inlined functions share an address, which is named as a whole.
        kept.dedup_by_key(|at| match raw[*at] {
            RawFrame::Native(address) => (0, address),
            RawFrame::Python { .. } => (1 + *at, 0),
        });
        self.name_functions(kept.iter().map(|at| raw[*at]));
        let named = kept.into_iter().flat_map(|at| match raw[at] {
            RawFrame::Native(_) => self.frames(raw[at]),
            RawFrame::Python { .. } => vec![frames[at].clone()],
        });
        let stack = named.collect();
        NamedSite {
            pid: self.pid,
            kind,
            stack,
            is_import: frames.iter().any(is_import_machinery),
        }
    }

    /// Leaves out the interpreter's own functions between Python and what it calls: they are in the file of the native frame
    /// that is next to Python's.
    fn remove_interpreter(&self, raw: &mut Vec<RawFrame>) {
        let Some(python) = raw.iter().position(is_python) else {
            return;
        };
        let next = python.checked_sub(1).and_then(|at| raw.get(at));
        if let Some(RawFrame::Native(interpreter)) = next.copied() {
            let maps = maps(self.info.pid);
            let same_file = same_file(&maps);
            raw.retain(|frame| match frame {
                RawFrame::Native(address) => !same_file(*address, interpreter),
                RawFrame::Python { .. } => true,
            });
        }
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

fn is_python(frame: &RawFrame) -> bool {
    matches!(frame, RawFrame::Python { .. })
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
