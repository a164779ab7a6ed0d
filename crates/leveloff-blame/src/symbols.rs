//! Names and lines of native functions, looked up while their process lives.

use std::collections::HashMap;

use blazesym::symbolize::source::{Process, Source};
use blazesym::symbolize::{CodeInfo, Input, Sym, Symbolizer};
use blazesym::{Addr, Pid};
use leveloff_model::allocation::StackFrame;

/// Looks addresses up, and keeps what it learned of libraries.
pub struct Symbols {
    symbolizer: Symbolizer,
}

impl std::fmt::Debug for Symbols {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Symbols").finish_non_exhaustive()
    }
}

impl Default for Symbols {
    fn default() -> Symbols {
        Symbols {
            symbolizer: Symbolizer::builder().enable_auto_reload(false).build(),
        }
    }
}

impl Symbols {
    /// The functions at these return addresses of a process, inlined ones first; an address that is not found is left out.
    pub fn look_up(&self, pid: u32, addresses: &[u64]) -> HashMap<u64, Vec<StackFrame>> {
        let mut process = Process::new(Pid::from(pid));
        // The links of /proc/PID/map_files need a capability; names through /proc/PID/root do not.
        process.map_files = false;
        // A return address is behind its call, which may be the last instruction of a line.
        let calls: Vec<Addr> = addresses.iter().map(|address| address - 1).collect();
        let source = Source::Process(process);
        let Ok(found) = self.symbolizer.symbolize(&source, Input::AbsAddr(&calls)) else {
            return HashMap::new();
        };
        let named = addresses.iter().zip(&found);
        named
            .filter_map(|(address, found)| Some((*address, frames(found.as_sym()?))))
            .collect()
    }
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
