//! Why memory grows, by what the training counts inside: its tensors, malloc's books, Python's blocks.

use leveloff_model::training_counters::{GrownTensors, TrainingCounter};
use leveloff_model::units::Bytes;

use super::{Case, amount, finding};
use crate::run::held::{rises_with_memory, tensors_rise_with_memory};
use crate::verdict::{Finding, Subject, Verdict};

/// Tensors whose number moves less than this share are level.
const TENSORS_LEVEL: f64 = 0.02;
/// Tensors whose number swings by more than this share come and go.
const TENSORS_COME_AND_GO: f64 = 0.2;
/// Whoever tells must have at least this share of the growth for what it counts to explain it.
const MOSTLY_THE_TELLER: f64 = 0.5;
/// Counts must cover at least this part of the growth to say anything about it.
const COVERS: f64 = 0.5;
/// Something with this share of the growth explains it.
const EXPLAINS: f64 = 0.5;
/// What malloc has in use and has kept is less than this share: the growth is not malloc's.
const NOT_MALLOCS: f64 = 0.3;
/// The largest block that Python's own allocator gives out; anything larger is malloc's.
const LARGEST_BLOCK: f64 = 512.0;
/// Sorts of tensors that are named.
const NAMED_SORTS: usize = 3;

/// What holds the growing memory.
pub(super) fn cause(case: &Case) -> Option<Finding> {
    growing_cause(case).or_else(|| trimmed(case))
}

fn growing_cause(case: &Case) -> Option<Finding> {
    let growth = case.memory_growth()?;
    if case.teller_growth(case.onset, case.now) < MOSTLY_THE_TELLER * growth {
        return None;
    }
    let books = Books::of(case);
    held_references(case, &books)
        .or_else(|| larger_tensors(case, &books))
        .or_else(|| by_malloc(case, &books))
        .or_else(|| by_tensors_alone(case, &books))
}

/// Page-locked host memory has much of the growth, or grows on its own.
pub(super) fn pinned(case: &Case) -> Option<Finding> {
    let track = case.book.counters.track(TrainingCounter::Pinned);
    let judgement = case
        .jury
        .of_subject(Subject::Counter(TrainingCounter::Pinned));
    let leaks = judgement.filter(|judgement| judgement.verdict.grade().is_some());
    let onset = leaks.and_then(|leak| leak.onset_x).unwrap_or(case.onset);
    let grown = track.growth_since(onset, case.now);
    let is_notable = case
        .memory_growth()
        .is_some_and(|growth| grown >= case.material() && grown >= EXPLAINS * growth);
    if leaks.is_none() && !is_notable {
        return None;
    }
    let (grown, now, place) = (amount(grown), amount(track.newest()), case.place(onset));
    let text = format!(
        "page-locked host memory that CUDA's host allocator holds grew by {grown} to {now} since {place}"
    );
    let next = "the pool rounds blocks up to a power of two and returns none: batches of ever new sizes fill it; \
                pad them to a few sizes, lower prefetch_factor, or try pin_memory=False";
    Some(finding("pinned-pool", text, next))
}

/// What the books of the one who tells say of the growth.
struct Books {
    tensors: Option<Grown>,
    /// Without those on devices.
    tensor_bytes: Option<Grown>,
    malloc_used: Option<Grown>,
    malloc_kept: Option<Grown>,
    python_blocks: Option<Grown>,
}

/// What grew while it was counted, beside the memory of the one who counted.
#[derive(Clone, Copy)]
struct Grown {
    from: f64,
    to: f64,
    by: f64,
    memory: f64,
}

impl Books {
    fn of(case: &Case) -> Books {
        let grown = |fact| Grown::of(case, fact);
        let on_devices = |bytes: Grown| {
            let devices = case.book.counters.track(TrainingCounter::DeviceTensorBytes);
            Grown {
                by: bytes.by - devices.growth_since(bytes.from, bytes.to),
                ..bytes
            }
        };
        Books {
            tensors: grown(TrainingCounter::Tensors),
            tensor_bytes: grown(TrainingCounter::TensorBytes).map(on_devices),
            malloc_used: grown(TrainingCounter::MallocUsed),
            malloc_kept: grown(TrainingCounter::MallocFree),
            python_blocks: grown(TrainingCounter::PythonBlocks),
        }
    }
}

impl Grown {
    /// Since the onset, as far as it was counted; `None` if that is not far enough.
    fn of(case: &Case, fact: TrainingCounter) -> Option<Grown> {
        let told = case.book.counters.told(fact)?;
        let (from, to) = (told.from.max(case.onset), told.to.min(case.now));
        let covers = to - from >= COVERS * (case.now - case.onset);
        covers.then(|| Grown {
            from,
            to,
            by: Grown::counted(case, fact, from, to),
            memory: case.teller_growth(from, to),
        })
    }

    /// By the very counts where a stretch begins and ends with them; a curve only knows about.
    fn counted(case: &Case, fact: TrainingCounter, from: f64, to: f64) -> f64 {
        let track = case.book.counters.track(fact);
        let told = case.book.counters.told(fact);
        let start = match told.is_some_and(|told| told.from >= from) {
            true => track.first(),
            false => track.value_at(from).unwrap_or(track.first()),
        };
        let end = match told.is_some_and(|told| told.to <= to) {
            true => track.newest(),
            false => track.value_at(to).unwrap_or(track.newest()),
        };
        end - start
    }

    fn share(&self) -> f64 {
        self.by / self.memory.max(1.0)
    }

    /// "memory grew by 1.2 GiB since step 40"
    fn while_memory_grew(&self, case: &Case) -> String {
        format!(
            "memory grew by {} since {}",
            amount(self.memory),
            case.place(self.from)
        )
    }

    fn rises_with_memory(&self, case: &Case, fact: TrainingCounter) -> bool {
        rises_with_memory(case.book, fact, self.from, self.to)
    }
}

/// Tensors rise with memory.
fn held_references(case: &Case, books: &Books) -> Option<Finding> {
    let tensors = books.tensors?;
    if !tensors_rise_with_memory(case.book, case.jury, case.onset) {
        return None;
    }
    let (more, each) = (tensors.by, tensors.by / (tensors.to - tensors.from));
    let (unit, memory) = (case.unit.name(), tensors.while_memory_grew(case));
    let sorts = sorts(case.book.counters.grown());
    let text = format!(
        "live tensors rise with memory: {more:+.0} ({each:+.2} per {unit}) while {memory}, so references \
         are kept{sorts}"
    );
    let next = "look for losses or outputs that are appended or summed without .detach() or .item(), \
                and for caches without a bound; a cache that is meant to fill ends with the first epoch";
    Some(finding("held-references", text, next))
}

/// More bytes in tensors, whether or not their number tells it.
fn larger_tensors(case: &Case, books: &Books) -> Option<Finding> {
    let bytes = books.tensor_bytes?;
    let explains = bytes.share() >= EXPLAINS;
    if !explains || !bytes.rises_with_memory(case, TrainingCounter::TensorBytes) {
        return None;
    }
    let count = case.book.counters.tensors().newest();
    let (held, memory) = (amount(bytes.by), bytes.while_memory_grew(case));
    let sorts = sorts(case.book.counters.grown());
    let text =
        format!("tensors hold more: {held} more in {count:.0} of them while {memory}{sorts}");
    let next = "look for tensors that are kept or extended at each step: torch.cat onto a history, replay \
                buffers, key-value caches, outputs without .detach()";
    Some(finding("held-references", text, next))
}

/// What malloc and Python's own allocator say of growth that is not in tensors.
fn by_malloc(case: &Case, books: &Books) -> Option<Finding> {
    let (used, kept) = books.malloc_used.zip(books.malloc_kept)?;
    if tensors_pile_up(case, books) {
        return None;
    }
    let python = python_objects(case, books).filter(|_| used.share() < EXPLAINS);
    if python.is_some() {
        return python;
    }
    if used.share() + kept.share() < NOT_MALLOCS {
        return Some(outside_malloc(case, books, &used));
    }
    Some(if used.share() >= kept.share() {
        native(case, books, &used)
    } else {
        retention(case, &used, &kept)
    })
}

fn native(case: &Case, books: &Books, used: &Grown) -> Finding {
    let (more, memory) = (amount(used.by), used.while_memory_grew(case));
    let tensors = tensor_words(case, books);
    let rising = books
        .python_blocks
        .filter(|blocks| blocks.rises_with_memory(case, TrainingCounter::PythonBlocks));
    let text =
        format!("malloc has {more} more in use while {memory}{tensors}: native code keeps it");
    if books.tensors.is_none() {
        // What was not counted is not level.
        let text = format!("{text}, or tensors do, which were not counted");
        return finding("native-growth", text, COUNT_TENSORS);
    }
    if let Some(blocks) = rising {
        let more = blocks.by;
        let text = format!(
            "{text}, or Python objects do: arrays, images and bytes are malloc's, and objects became more, \
             too ({more:+.0} blocks)"
        );
        return finding("native-growth", text, LOOK_FOR_ARRAYS);
    }
    let next = "`memray run --native` names the allocating code, but sees no malloc that is reached through \
                dlsym; jemalloc with MALLOC_CONF=prof:true does";
    finding("native-growth", text, next)
}

const LOOK_FOR_ARRAYS: &str = "look for arrays, images or bytes that are kept in lists or dicts: \
    tracemalloc.start() and a snapshot's compare_to() name the lines; if there are none, \
    `memray run --native` names the native code";

const COUNT_TENSORS: &str = "leveloff.configure(tensors=True, budget=0.02) counts tensors within seconds: if they rise along, \
    references are kept; if not, `memray run --native` names the allocating code";

fn retention(case: &Case, used: &Grown, kept: &Grown) -> Finding {
    let in_use = case
        .book
        .counters
        .track(TrainingCounter::MallocUsed)
        .newest();
    let moved = match used.by < TENSORS_LEVEL * in_use {
        true => format!("stays at {}", amount(in_use)),
        false => format!("rose by {} to {}", amount(used.by), amount(in_use)),
    };
    let (kept, memory) = (amount(kept.by), kept.while_memory_grew(case));
    let trimmed = trimmed_words(case).unwrap_or_default();
    let text = format!(
        "what malloc has in use {moved}, but it keeps {kept} more that was freed, while {memory}: holes in \
         the heap, nothing that the program holds{trimmed}"
    );
    finding("allocator-retention", text, AGAINST_HOLES)
}

const AGAINST_HOLES: &str = "MALLOC_MMAP_THRESHOLD_=65536 (glibc) keeps large blocks out of the heap; also \
    MALLOC_ARENA_MAX=2, jemalloc, or malloc_trim(0) now and then";

fn outside_malloc(case: &Case, books: &Books, used: &Grown) -> Finding {
    let (memory, tensors) = (used.while_memory_grew(case), tensor_words(case, books));
    let text = format!(
        "{memory}, and malloc does not have it{tensors}: it is mapped directly, by a library or a driver"
    );
    let next = "`pmap -x PID | sort -n -k3` shows the mappings that grow; stacks of threads, arenas of other \
                allocators and buffers of readers are mapped this way";
    finding("native-growth", text, next)
}

/// Python objects that are no tensors pile up.
fn python_objects(case: &Case, books: &Books) -> Option<Finding> {
    let blocks = books.python_blocks?;
    // Whether so much can be in Python's blocks at all.
    let is_enough = blocks.by * LARGEST_BLOCK >= EXPLAINS * blocks.memory;
    if !is_enough || !blocks.rises_with_memory(case, TrainingCounter::PythonBlocks) {
        return None;
    }
    let (more, each) = (blocks.by, blocks.by / (blocks.to - blocks.from));
    let (unit, memory) = (case.unit.name(), blocks.while_memory_grew(case));
    let text = format!(
        "Python objects rise with memory: {more:+.0} blocks ({each:+.1} per {unit}) while {memory}: objects \
         that are no tensors are kept"
    );
    let next = "look for lists, dicts and strings that grow: metrics, logs, samples kept by number; \
                tracemalloc.start() and a snapshot's compare_to() name the lines";
    Some(finding("python-objects", text, next))
}

/// Where the training tells its tensors and nothing of malloc.
fn by_tensors_alone(case: &Case, books: &Books) -> Option<Finding> {
    let told = books.tensors?;
    if books.malloc_used.is_some() || tensors_pile_up(case, books) {
        return None;
    }
    if let Some(found) = python_objects(case, books) {
        return Some(found);
    }
    let tensors = case.book.counters.tensors();
    let (count, swing) = (tensors.newest(), tensors.swing());
    let memory = told.while_memory_grew(case);
    if swing > TENSORS_COME_AND_GO * count.max(1.0) {
        let text = format!(
            "tensors come and go ({count:.0} now, over a range of {swing:.0}) without piling up while \
             {memory}: memory that is freed and not returned"
        );
        let next = "try MALLOC_MMAP_THRESHOLD_=65536 or jemalloc; gc.collect() every few hundred steps \
                    keeps reference cycles from holding batches";
        return Some(finding("allocator-retention", text, next));
    }
    let text = format!(
        "tensors stay at {count:.0} while {memory}: no Python reference to a tensor piles up; native code \
         keeps it, or the allocator does not return it"
    );
    let next = "run once with MALLOC_MMAP_THRESHOLD_=65536 (glibc): if growth stops, it was holes in \
                the heap, and MALLOC_ARENA_MAX=2, jemalloc or a malloc_trim(0) now and then cure it; if \
                not, `memray run --native` names the allocating code, but sees no malloc that is \
                reached through dlsym";
    Some(finding("native-growth", text, next))
}

/// " and tensors stay at 6529", where they are counted.
fn tensor_words(case: &Case, books: &Books) -> String {
    match books.tensors {
        Some(_) => format!(
            " and tensors stay at {:.0}",
            case.book.counters.tensors().newest()
        ),
        None => String::new(),
    }
}

/// Tensors become more, though not so that they would explain the growth.
fn tensors_pile_up(case: &Case, books: &Books) -> bool {
    let tensors = case.book.counters.tensors();
    let more = books.tensors.map_or(0.0, |tensors| tensors.by);
    let leak = case
        .jury
        .of_subject(Subject::Counter(TrainingCounter::Tensors))
        .is_some_and(|tensors| matches!(tensors.verdict, Verdict::Leak(_)));
    leak || (more > TENSORS_LEVEL * tensors.newest() && more > 0.5 * tensors.swing())
}

/// A trim gave much back, and that ended the growth.
fn trimmed(case: &Case) -> Option<Finding> {
    let words = trimmed_words(case)?;
    let text = format!("memory had been freed and not returned{words}");
    Some(finding("allocator-retention", text, AGAINST_HOLES))
}

fn trimmed_words(case: &Case) -> Option<String> {
    let back = case.book.counters.track(TrainingCounter::Trimmed).newest();
    let is_much = back > 0.0 && back >= case.material();
    is_much.then(|| format!("; malloc_trim gave {} back", Bytes(back as u64)))
}

/// "; most of them float32[64, 1024] cpu (+400, 100 MiB)"
fn sorts(grown: &[GrownTensors]) -> String {
    let named = grown.iter().take(NAMED_SORTS);
    let sorts: Vec<String> = named
        .map(|sort| format!("{} (+{}, {})", sort.what, sort.more, sort.more_bytes))
        .collect();
    match sorts.is_empty() {
        true => String::new(),
        false => format!("; most of them {}", sorts.join(", ")),
    }
}
