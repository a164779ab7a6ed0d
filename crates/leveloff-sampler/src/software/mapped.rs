//! Finds a process's Python version and the directories of its packages in its `maps`.

use memchr::memmem;

use crate::facts::{base_name, libraries};
use crate::kernel::smaps::mapping_path;

/// What the mapped paths show.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mapped {
    /// The version of its Python: `3.11`, `3.13t` without a global lock.
    pub python: Option<String>,
    /// The package directories that it maps files from, that of the framework first. Empty without a
    /// framework, because packages of other Python programs are not recorded.
    pub sites: Vec<Vec<u8>>,
}

/// The directories by which frameworks are imported.
const IMPORTED: [&[u8]; 3] = [b"torch", b"jaxlib", b"tensorflow"];

/// How many package directories are read: a virtual environment has one, a system two, a user one more.
const SITES: usize = 4;

/// Reads a `maps`.
pub fn parse(maps: &[u8]) -> Mapped {
    Mapped {
        python: python(maps),
        sites: sites(maps),
    }
}

fn sites(maps: &[u8]) -> Vec<Vec<u8>> {
    let framework = libraries::framework(maps);
    let Some(site) = framework.and_then(|(_, path)| site_of_framework(path)) else {
        return Vec::new();
    };
    let mut sites = vec![site.to_vec()];
    for site in paths_with(maps, b"-packages/").filter_map(site_of_package) {
        if sites.len() == SITES {
            break;
        }
        if !sites.iter().any(|known| known == site) {
            sites.push(site.to_vec());
        }
    }
    sites
}

/// `/opt/venv/lib/python3.11/site-packages` of `…/site-packages/torch/lib/libtorch_python.so`, and
/// `/home/user/pytorch` of a torch that runs where it was built.
fn site_of_framework(path: &[u8]) -> Option<&[u8]> {
    let mut end = path.len();
    while let Some(slash) = memchr::memrchr(b'/', &path[..end]) {
        if IMPORTED.contains(&&path[slash + 1..end]) {
            return Some(&path[..slash]);
        }
        end = slash;
    }
    None
}

fn site_of_package(path: &[u8]) -> Option<&[u8]> {
    [&b"/site-packages/"[..], b"/dist-packages/"]
        .into_iter()
        .find_map(|name| memmem::find(path, name).map(|at| &path[..at + name.len() - 1]))
}

/// By its library or its program, else by a directory of its modules.
fn python(maps: &[u8]) -> Option<String> {
    let paths = || paths_with(maps, b"python3.");
    let by_file = paths().find_map(|path| {
        let file = base_name(path);
        version(file.strip_prefix(b"lib").unwrap_or(file))
    });
    by_file.or_else(|| paths().find_map(|path| path.split(|&b| b == b'/').find_map(version)))
}

/// `3.11` of `python3.11` or `python3.11.so.1.0`.
fn version(name: &[u8]) -> Option<String> {
    let rest = name.strip_prefix(b"python3.")?;
    let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    if digits == 0 || digits > 3 {
        return None;
    }
    let minor = std::str::from_utf8(&rest[..digits]).ok()?;
    let free_threaded = if rest[digits..].starts_with(b"t") {
        "t"
    } else {
        ""
    };
    Some(format!("3.{minor}{free_threaded}"))
}

/// The mapped paths that contain `part`, each as often as it is mapped.
fn paths_with<'a>(maps: &'a [u8], part: &'static [u8]) -> impl Iterator<Item = &'a [u8]> {
    memmem::find_iter(maps, part).filter_map(|at| mapping_path(line_around(maps, at)))
}

fn line_around(text: &[u8], at: usize) -> &[u8] {
    let start = memchr::memrchr(b'\n', &text[..at]).map_or(0, |newline| newline + 1);
    let end = memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |length| at + length);
    &text[start..end]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn mapped(paths: &[&str]) -> Mapped {
        let line = |path| format!("7f00-7f01 r-xp 00000000 fe:00 12    {path}\n");
        parse(paths.iter().map(line).collect::<String>().as_bytes())
    }

    #[test]
    fn python_is_known_by_its_program_its_library_or_its_modules() {
        for (path, version) in [
            ("/usr/bin/python3.11", "3.11"),
            ("/opt/conda/lib/libpython3.9.so.1.0", "3.9"),
            ("/opt/bin/python3.13t", "3.13t"),
            ("/usr/lib/python3.12/lib-dynload/_json.so", "3.12"),
        ] {
            assert_eq!(mapped(&[path]).python.as_deref(), Some(version), "{path}");
        }
        assert_eq!(mapped(&["/usr/lib/libpython3.so", "/bin/sh"]).python, None);
        let both = mapped(&["/old/python3.8/x.so", "/usr/bin/python3.11 (deleted)"]);
        assert_eq!(both.python.as_deref(), Some("3.11"));
    }

    #[test]
    fn packages_lie_where_the_framework_was_mapped_from() {
        let torch = "/home/u/torch/v/lib/python3.11/site-packages/torch/lib/libtorch_python.so";
        let own = "/home/u/.local/lib/python3.11/site-packages/numpy/_core/x.so";
        assert_eq!(
            mapped(&[own, torch, torch]).sites,
            [
                &b"/home/u/torch/v/lib/python3.11/site-packages"[..],
                b"/home/u/.local/lib/python3.11/site-packages"
            ]
        );
        let built = mapped(&["/src/pytorch/torch/lib/libtorch_python.so"]);
        assert_eq!(built.sites, [b"/src/pytorch"]);
        let jax = mapped(&["/usr/lib/python3/dist-packages/jaxlib/_jax.so"]);
        assert_eq!(jax.sites, [b"/usr/lib/python3/dist-packages"]);
    }

    #[test]
    fn without_a_framework_no_packages_are_looked_for() {
        let numpy = "/v/lib/python3.11/site-packages/numpy/_core/x.so";
        assert_eq!(mapped(&[numpy]).sites, Vec::<Vec<u8>>::new());
        assert_eq!(mapped(&[numpy]).python.as_deref(), Some("3.11"));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(text in proptest::collection::vec(any::<u8>(), 0..200)) {
            parse(&text);
            parse(&[b"1-2 r 0 0 0 /", &text[..], b"/site-packages/torch/libtorch_cpu.so"].concat());
            parse(&[b"1-2 r 0 0 0 /python3.", &text[..]].concat());
        }
    }
}
