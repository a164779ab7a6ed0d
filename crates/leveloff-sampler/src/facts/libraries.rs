//! Which framework a process maps, from the paths in its `maps`.

use memchr::memmem;

use super::base_name;
use crate::kernel::smaps::mapping_path;

/// A framework that trains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Framework {
    /// PyTorch from Python.
    Torch,
    /// libtorch from another language.
    TorchNative,
    /// JAX.
    Jax,
    /// TensorFlow.
    TensorFlow,
    /// candle, which is linked into the program.
    Candle,
}

/// What a process's mappings show.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Libraries {
    /// The framework; the first of [`Framework`] when there are several, since programs that train
    /// with torch often import TensorFlow for its logging.
    pub framework: Option<Framework>,
    /// What it was recognised by: the library's file name.
    pub evidence: String,
    /// It draws windows, so an open GPU does not mean that it computes.
    pub displays: bool,
}

/// Prefixes of file names that identify a framework.
const NAMES: [(&str, Framework); 8] = [
    ("libtorch_python.so", Framework::Torch),
    ("libtorch_cpu.so", Framework::TorchNative),
    // jaxlib until 0.5, 0.6, and from 0.7.
    ("xla_extension.", Framework::Jax),
    ("libjax_common.so", Framework::Jax),
    ("_jax.", Framework::Jax),
    ("libtensorflow_framework.so", Framework::TensorFlow),
    ("libtensorflow_cc.so", Framework::TensorFlow),
    ("_pywrap_tensorflow_internal", Framework::TensorFlow),
];

const DISPLAY_NAMES: [&str; 3] = ["libX11.so", "libwayland-client.so", "libwayland-server.so"];

/// Parses a `maps`. It searches for the names and does not go through the lines: a training process has
/// thousands of mappings.
pub fn parse(maps: &[u8]) -> Libraries {
    let displays = DISPLAY_NAMES
        .iter()
        .any(|name| mapped_path(maps, name).is_some());
    match framework(maps) {
        Some((framework, path)) => Libraries {
            framework: Some(framework),
            evidence: leveloff_model::process::printable(base_name(path)),
            displays,
        },
        None => Libraries {
            displays,
            ..Libraries::default()
        },
    }
}

/// The framework in a `maps`, and the path of its library.
pub(crate) fn framework(maps: &[u8]) -> Option<(Framework, &[u8])> {
    NAMES
        .iter()
        .filter_map(|&(name, framework)| Some((framework, mapped_path(maps, name)?)))
        .min_by_key(|(framework, _)| *framework)
}

/// The path of the mapped file whose name begins with `name`, if there is one.
fn mapped_path<'a>(maps: &'a [u8], name: &str) -> Option<&'a [u8]> {
    memmem::find_iter(maps, name).find_map(|at| {
        let start = memchr::memrchr(b'\n', &maps[..at]).map_or(0, |newline| newline + 1);
        let end = memchr::memchr(b'\n', &maps[at..]).map_or(maps.len(), |length| at + length);
        let path = mapping_path(&maps[start..end])?;
        base_name(path).starts_with(name.as_bytes()).then_some(path)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn maps(paths: &[&str]) -> Vec<u8> {
        let line = |path| format!("7f00-7f01 r-xp 00000000 fe:00 12    {path}\n");
        paths.iter().map(line).collect::<String>().into()
    }

    #[test]
    fn each_framework_is_known_by_its_library() {
        for (path, framework) in [
            ("/v/torch/lib/libtorch_python.so", Framework::Torch),
            ("/opt/lib/libtorch_cpu.so", Framework::TorchNative),
            ("/v/jaxlib/xla_extension.so", Framework::Jax),
            ("/v/jaxlib/libjax_common.so", Framework::Jax),
            ("/v/jaxlib/_jax.so", Framework::Jax),
            (
                "/v/tensorflow/libtensorflow_framework.so.2",
                Framework::TensorFlow,
            ),
            (
                "/v/t/python/_pywrap_tensorflow_internal.so",
                Framework::TensorFlow,
            ),
        ] {
            assert_eq!(
                parse(&maps(&["/bin/python3", path])).framework,
                Some(framework),
                "{path}"
            );
        }
    }

    #[test]
    fn torch_wins_over_what_it_brings_along() {
        let both = parse(&maps(&[
            "/v/libtensorflow_cc.so.2",
            "/v/libtorch_cpu.so",
            "/v/libtorch_python.so",
        ]));
        assert_eq!(both.framework, Some(Framework::Torch));
        assert_eq!(both.evidence, "libtorch_python.so");
    }

    #[test]
    fn a_directory_or_a_longer_name_is_not_the_library() {
        let none = parse(&maps(&[
            "/home/libtorch_python.so.d/notes",
            "/home/my-libtorch_cpu.so",
            "[heap]",
        ]));
        assert_eq!(none, Libraries::default());
        assert!(parse(&maps(&["/usr/lib/libX11.so.6.4"])).displays);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(text in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&text);
            let _ = parse(&[&text[..], b"libtorch_cpu.so", &text[..]].concat());
        }
    }
}
