//! `/proc/PID/cgroup` and `/proc/self/mountinfo`, as far as the memory controller is concerned.
//!
//! `procfs-core` rejects the whole file when a single line is not UTF-8 or has an unknown field, and an
//! unrelated mount must not hide the cgroup.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// A process's group in the hierarchies that may account memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Membership<'a> {
    /// In the version 1 hierarchy that has the memory controller.
    pub v1: Option<&'a [u8]>,
    /// In the version 2 hierarchy.
    pub v2: Option<&'a [u8]>,
}

/// A mounted hierarchy that may account memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CgroupMount {
    /// 1 or 2.
    pub version: u8,
    /// Which group of the hierarchy is mounted, as named in the cgroup namespace of leveloff.
    pub root: Vec<u8>,
    /// Where.
    pub point: PathBuf,
}

/// Reads `/proc/PID/cgroup`: lines of `number:controllers:path`.
pub(super) fn membership(text: &[u8]) -> Membership<'_> {
    let mut found = Membership::default();
    for line in text.split(|&b| b == b'\n') {
        // The path comes last and may hold colons itself.
        let mut fields = line.splitn(3, |&b| b == b':');
        let (Some(number), Some(controllers), Some(path)) =
            (fields.next(), fields.next(), fields.next())
        else {
            continue;
        };
        if controllers.split(|&b| b == b',').any(|c| c == b"memory") {
            found.v1 = Some(path);
        } else if number == b"0" && controllers.is_empty() {
            found.v2 = Some(path);
        }
    }
    found
}

/// The mounts of `mountinfo` that are cgroup2, or version 1 with the memory controller.
pub(super) fn memory_mounts(mountinfo: &[u8]) -> Vec<CgroupMount> {
    mountinfo
        .split(|&b| b == b'\n')
        .filter_map(memory_mount)
        .collect()
}

fn memory_mount(line: &[u8]) -> Option<CgroupMount> {
    let mut fields = line.split(|&b| b == b' ');
    let root = fields.nth(3)?;
    let point = fields.next()?;
    // Any number of optional fields follow; a lone dash ends them.
    fields.by_ref().find(|&field| field == b"-")?;
    let kind = fields.next()?;
    let options = fields.nth(1)?;
    let version = match kind {
        b"cgroup2" => 2,
        b"cgroup" if options.split(|&b| b == b',').any(|o| o == b"memory") => 1,
        _ => return None,
    };
    Some(CgroupMount {
        version,
        root: unescaped(root),
        point: PathBuf::from(OsString::from_vec(unescaped(point))),
    })
}

/// mountinfo writes blanks, tabs, newlines and backslashes as three octal digits.
fn unescaped(field: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&first, after)) = rest.split_first() {
        match (first, octal(after)) {
            (b'\\', Some(byte)) => {
                plain.push(byte);
                rest = &after[3..];
            }
            _ => {
                plain.push(first);
                rest = after;
            }
        }
    }
    plain
}

fn octal(text: &[u8]) -> Option<u8> {
    text.get(..3)?.iter().try_fold(0u8, |value, &digit| {
        let digit = digit.checked_sub(b'0').filter(|&d| d < 8)?;
        value.checked_mul(8)?.checked_add(digit)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_memory_controller_is_found_among_the_others() {
        let hybrid = membership(b"11:cpu,cpuacct:/x\n4:hugetlb,memory:/a:b\n0::/c\n");
        assert_eq!(hybrid.v1, Some(&b"/a:b"[..]));
        assert_eq!(hybrid.v2, Some(&b"/c"[..]));
        assert_eq!(
            membership(b"9:name=systemd:/\nnonsense\n"),
            Membership::default()
        );
    }

    #[test]
    fn mounts_are_found_past_optional_fields_and_escapes() {
        let mounts = memory_mounts(
            b"35 31 0:32 /docker/a\\040b /cg\\134mem ro shared:1 master:2 - cgroup cgroup rw,memory\n\
              34 31 0:31 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
              41 31 0:38 / /u rw - cgroup2 none rw\n\
              27 1 254:0 / /\xff\xfe rw - ext4 /dev/vda rw\n",
        );
        assert_eq!(mounts.len(), 2);
        assert_eq!(mounts[0].root, b"/docker/a b");
        assert_eq!(mounts[0].point, PathBuf::from("/cg\\mem"));
        assert_eq!((mounts[0].version, mounts[1].version), (1, 2));
    }

    #[test]
    fn this_machine_agrees_with_the_procfs_crate() {
        use procfs_core::FromBufRead;
        let text = std::fs::read("/proc/self/mountinfo").unwrap();
        let theirs = procfs_core::process::MountInfos::from_buf_read(&text[..]).unwrap();
        let points: Vec<PathBuf> = theirs
            .into_iter()
            .filter(|m| {
                m.fs_type == "cgroup2"
                    || m.fs_type == "cgroup" && m.super_options.contains_key("memory")
            })
            .map(|m| m.mount_point)
            .collect();
        let ours: Vec<PathBuf> = memory_mounts(&text).into_iter().map(|m| m.point).collect();
        assert_eq!(ours, points);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(text in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = (membership(&text), memory_mounts(&text), unescaped(&text));
        }

        #[test]
        fn no_line_of_fields_makes_it_panic(text in "[-0-9: /\\\\a-c\n]{0,200}") {
            let _ = (membership(text.as_bytes()), memory_mounts(text.as_bytes()));
        }
    }
}
