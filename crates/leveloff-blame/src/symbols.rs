//! Names and lines of native functions, looked up while their process lives.
//!
//! The symbols of a large library take a hundred MiB while they are read. So one library is read at a time, and
//! nothing is kept of it but the names that were asked for.

use std::collections::{BTreeMap, HashMap};
use std::fs;

use blazesym::symbolize::source::{Process, Source};
use blazesym::symbolize::{CodeInfo, Input, Sym, Symbolizer};
use blazesym::{Addr, Pid};
use leveloff_model::allocation::StackFrame;

/// The functions at these return addresses of a process, inlined ones first; an address that is not found is left out.
pub fn look_up(pid: u32, addresses: &[u64]) -> HashMap<u64, Vec<StackFrame>> {
    let maps = maps(pid);
    let by_library = by_library(&maps, addresses);
    let found = by_library
        .values()
        .flat_map(|addresses| look_up_in_one(pid, addresses));
    found.collect()
}

/// What is mapped in a process; empty if it is gone.
pub fn maps(pid: u32) -> String {
    fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default()
}

/// Whether two addresses of a process are in the same file.
pub fn same_file<'a>(maps: &'a str) -> impl Fn(u64, u64) -> bool + 'a {
    let mappings: Vec<(u64, u64, &str)> = maps.lines().filter_map(mapping).collect();
    let file = move |address: u64| {
        let next = mappings.partition_point(|(start, _, _)| *start < address);
        let before = next.checked_sub(1).and_then(|at| mappings.get(at));
        before
            .filter(|(_, end, path)| address <= *end && !path.is_empty())
            .map(|(_, _, path)| *path)
    };
    move |one, other| file(one).is_some_and(|path| Some(path) == file(other))
}

fn look_up_in_one(pid: u32, addresses: &[u64]) -> HashMap<u64, Vec<StackFrame>> {
    let symbolizer = Symbolizer::builder().enable_auto_reload(false).build();
    let mut process = Process::new(Pid::from(pid));
    // The links of /proc/PID/map_files need a capability; names through /proc/PID/root do not.
    process.map_files = false;
    // A return address is behind its call, which may be the last instruction of a line.
    let calls: Vec<Addr> = addresses.iter().map(|address| address - 1).collect();
    let source = Source::Process(process);
    let Ok(found) = symbolizer.symbolize(&source, Input::AbsAddr(&calls)) else {
        return HashMap::new();
    };
    let named = addresses.iter().zip(&found);
    named
        .filter_map(|(address, found)| Some((*address, frames(found.as_sym()?))))
        .collect()
}

/// Addresses by the file that is mapped there; those in no file are together.
fn by_library<'a>(maps: &'a str, addresses: &[u64]) -> BTreeMap<&'a str, Vec<u64>> {
    let mappings: Vec<(u64, u64, &str)> = maps.lines().filter_map(mapping).collect();
    let mut groups: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for address in addresses {
        let next = mappings.partition_point(|(start, _, _)| start < address);
        let before = next.checked_sub(1).and_then(|at| mappings.get(at));
        let path = before.filter(|(_, end, _)| address <= end);
        groups
            .entry(path.map_or("", |(_, _, path)| path))
            .or_default()
            .push(*address);
    }
    groups
}

/// Start, end and file of a line of `maps`.
fn mapping(line: &str) -> Option<(u64, u64, &str)> {
    let (start, rest) = line.split_once('-')?;
    let (end, rest) = rest.split_once(' ')?;
    let number = |text| u64::from_str_radix(text, 16).ok();
    let path = rest.find('/').map_or("", |at| &rest[at..]);
    Some((number(start)?, number(end)?, path))
}

fn frames(symbol: &Sym<'_>) -> Vec<StackFrame> {
    let module = symbol.module.as_ref();
    let module = module.map(|module| module.to_string_lossy().into_owned());
    let frame = |name: &str, code: Option<&CodeInfo<'_>>| StackFrame {
        function: name.to_owned(),
        file: code
            .map(|code| code.to_path().to_string_lossy().into_owned())
            .or_else(|| module.clone()),
        line: code.and_then(|code| code.line),
        is_python: false,
    };
    let inlined = symbol.inlined.iter().rev();
    inlined
        .map(|inner| frame(&inner.name, inner.code_info.as_ref()))
        .chain([frame(&symbol.name, symbol.code_info.as_deref())])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_looked_up_library_by_library() {
        let maps = "1000-2000 r-xp 00000000 fe:00 12   /usr/bin/python\n\
            2000-3000 r--p 00001000 fe:00 12   /usr/bin/python\n\
            7000-8000 rw-p 00000000 00:00 0 \n\
            9000-a000 r-xp 00000000 fe:00 14   /lib/a b.so\n";
        let groups = by_library(maps, &[0x1800, 0x9001, 0x2500, 0x7001, 0xfff0, 0x500]);
        assert_eq!(groups["/usr/bin/python"], [0x1800, 0x2500]);
        assert_eq!(groups["/lib/a b.so"], [0x9001]);
        assert_eq!(groups[""], [0x7001, 0xfff0, 0x500]);
    }

    #[test]
    fn addresses_of_one_file_are_known() {
        let maps = "1000-2000 r-xp 00000000 fe:00 12   /usr/bin/python\n\
            2000-3000 r--p 00001000 fe:00 12   /usr/bin/python\n\
            7000-8000 rw-p 00000000 00:00 0 \n\
            9000-a000 r-xp 00000000 fe:00 14   /lib/a b.so\n";
        let same_file = same_file(maps);
        assert!(same_file(0x1800, 0x2500));
        assert!(!same_file(0x1800, 0x9001));
        assert!(!same_file(0x7001, 0x7002), "in no file");
    }

    #[inline(never)]
    fn a_function_to_find() -> u64 {
        std::hint::black_box(a_function_to_find as fn() -> u64) as usize as u64
    }

    #[test]
    fn a_function_of_this_process_is_found_by_name() {
        let address = a_function_to_find() + 1;
        let found = look_up(std::process::id(), &[address]);
        // A function that is inlined there stands in front of it.
        let names: Vec<&str> = found[&address]
            .iter()
            .map(|frame| &*frame.function)
            .collect();
        let last = names.last().unwrap();
        assert!(last.contains("a_function_to_find"), "{names:?}");
    }
}
