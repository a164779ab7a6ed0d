//! Which mapping a real process fills.

use crate::python_child::{HandClock, PythonChild, sampler_of};
use leveloff_model::sample::FillingMapping;

const MIB: u64 = 1 << 20;

/// What the readings say while the process goes on by one round after the other.
fn readings(script: &str, rounds: usize) -> Vec<Option<FillingMapping>> {
    let mut python = PythonChild::start(script);
    let clock = HandClock::new();
    let mut sampler = None;
    let mut seen = Vec::new();
    for _ in 0..rounds {
        python.read_line();
        let sampler = sampler.get_or_insert_with(|| sampler_of(python.pid(), &clock));
        // The counters of the first tick show the growth, the second one requests, the third one has the reading.
        for _ in 0..3 {
            sampler.tick().unwrap();
            sampler.wait_for_details();
            clock.pass(3.0);
        }
        let sample = sampler.tick().unwrap().sample;
        seen.push(sample.mappings.and_then(|mappings| mappings.filling));
        python.resume();
    }
    seen
}

#[test]
fn a_buffer_that_is_filled_is_found_with_its_size() {
    let seen = readings(
        r#"
kept = []
while True:
    buffer = mmap.mmap(-1, 200 * MIB + 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if ctypes.addressof(ctypes.c_char.from_buffer(buffer)) % (32 * MIB): break
    kept.append(buffer)
buffer.madvise(mmap.MADV_NOHUGEPAGE)
for block in range(5):
    say("ready"); wait()
    buffer[block * 20 * MIB:(block + 1) * 20 * MIB] = b"x" * (20 * MIB)
say("ready"); wait()
"#,
        5,
    );
    let filling: Vec<FillingMapping> = seen.into_iter().flatten().collect();
    assert!(filling.len() >= 3, "{filling:?}");
    for pair in filling.windows(2) {
        assert_eq!(
            (pair[0].number, pair[0].size),
            (pair[1].number, pair[1].size)
        );
        let more = pair[1].used.0 - pair[0].used.0;
        assert!(more.abs_diff(20 * MIB) < 2 * MIB, "{filling:?}");
    }
    let size = filling[0].size.0;
    assert!((200 * MIB..240 * MIB).contains(&size), "{filling:?}");
}

#[test]
fn blocks_that_are_kept_fill_nothing() {
    let seen = readings(
        r#"
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
for _ in range(6):
    say("ready"); wait()
    for _ in range(20): ctypes.memset(libc.malloc(MIB), 1, MIB)
"#,
        5,
    );
    assert_eq!(seen, [None; 5]);
}
