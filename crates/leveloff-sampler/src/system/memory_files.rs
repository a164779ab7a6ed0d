//! Files in memory that have no directory: memfds. One that is open but not mapped is in no process's memory, and only a
//! descriptor shows whose it is.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;

use leveloff_model::process::Pid;
use leveloff_model::units::{Bytes, Seconds};

use super::shared_files::{Look, MOST_PROCESSES, open_files, size};
use crate::proc_root::ProcRoot;

/// Adds up the memfds that processes of the run hold.
#[derive(Debug)]
pub struct MemoryFiles {
    proc_root: ProcRoot,
    looked_at: Option<Look<Bytes>>,
    /// The most descriptors that the run had at a look.
    most_descriptors: u64,
}

/// Descriptors are looked at again when the machine's other shared memory has changed by this much: other programs change
/// it all the time.
const MOVED: u64 = 4 << 20;

/// So many more descriptors than ever before are a reason to look: the machine's shared memory is read less often.
const MORE_DESCRIPTORS: u64 = 16;

/// How the kernel names a memfd.
const MEMFD: &[u8] = b"/memfd:";

impl MemoryFiles {
    /// The memfds of processes of this /proc.
    pub fn new(proc_root: &ProcRoot) -> MemoryFiles {
        MemoryFiles {
            proc_root: proc_root.clone(),
            looked_at: None,
            most_descriptors: 0,
        }
    }

    /// The bytes in memfds that the processes hold, as of the last look. Looks again if `elsewhere`, the machine's shared
    /// memory without /dev/shm, has changed, or if the processes have more `descriptors` than ever before.
    pub fn read(
        &mut self,
        now: Seconds,
        elsewhere: Option<Bytes>,
        descriptors: u64,
        living: impl Iterator<Item = Pid>,
    ) -> Option<Bytes> {
        let elsewhere = elsewhere?;
        if let Some(last) = self.looked_at
            && !(last.is_due_again(now, elsewhere, MOVED)
                || descriptors >= self.most_descriptors + MORE_DESCRIPTORS && last.is_cheap(now))
        {
            return Some(last.found);
        }
        self.most_descriptors = self.most_descriptors.max(descriptors);
        let look = Look::new(now, elsewhere, || self.held_by(living));
        self.looked_at = Some(look);
        Some(look.found)
    }

    /// Each file once: forks and receivers hold the same.
    fn held_by(&self, living: impl Iterator<Item = Pid>) -> Bytes {
        let mut held: HashMap<(u64, u64), Bytes> = HashMap::new();
        for pid in living.take(MOST_PROCESSES) {
            for file in open_files(&self.proc_root.process(pid).join("fd"), MEMFD) {
                held.insert((file.dev(), file.ino()), size(&file));
            }
        }
        held.into_values().sum()
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write;
    use std::process::{Command, Stdio};

    use rustix::fs::{MemfdFlags, memfd_create};

    use super::*;

    const MIB: usize = 1 << 20;

    fn memfd() -> File {
        let mut file = File::from(memfd_create("leveloff-test", MemfdFlags::CLOEXEC).unwrap());
        file.write_all(&vec![1; MIB]).unwrap();
        file
    }

    #[test]
    fn a_memfd_counts_once_whoever_holds_it_and_only_when_memory_moved() {
        let file = memfd();
        let cat = |input: &File| {
            let input = Stdio::from(input.try_clone().unwrap());
            let mut command = Command::new("sleep");
            command.arg("60").stdin(input).spawn().unwrap()
        };
        let mut holders = [cat(&file), cat(&file)];
        let pids = holders.each_ref().map(|child| Pid(child.id() as i32));
        let mut files = MemoryFiles::new(&ProcRoot::live());
        let mut read = |t, elsewhere, descriptors| {
            let elsewhere = Some(Bytes(elsewhere));
            files.read(Seconds(t), elsewhere, descriptors, pids.into_iter())
        };
        let first = read(0.0, 0, 100);
        let mut grown = file.try_clone().unwrap();
        grown.write_all(&vec![1; MIB]).unwrap();
        let (unmoved, moved) = (read(60.0, 4096, 100), read(120.0, MOVED, 100));
        grown.write_all(&vec![1; MIB]).unwrap();
        let (as_many, more) = (read(180.0, MOVED, 110), read(240.0, MOVED, 116));
        for child in &mut holders {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        assert_eq!(first, Some(Bytes(MIB as u64)));
        assert_eq!(unmoved, first);
        assert_eq!(moved, Some(Bytes(2 * MIB as u64)));
        assert_eq!((as_many, more), (moved, Some(Bytes(3 * MIB as u64))));
    }
}
