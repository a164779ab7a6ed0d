//! Why memory grows, by what the training counts inside: its tensors, malloc's books, Python's blocks.

use leveloff_model::inside::{GrownTensors, InsideFact};

use super::{Case, amount, finding};
use crate::run::held::{rises_with_memory, tensors_rise_with_memory};
use crate::verdict::{Finding, Subject, Verdict};

/// Tensors whose number moves less than this share are level.
const TENSORS_LEVEL: f64 = 0.02;
/// Tensors whose number swings by more than this share come and go.
const TENSORS_COME_AND_GO: f64 = 0.2;
/// Fewer counts than this say nothing about a trend.
const LEAST_COUNTS: u64 = 3;
/// Whoever tells must have at least this share of the growth for what it counts to explain it.
const MOSTLY_THE_TELLER: f64 = 0.5;
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
    let books = Books::of(case)?;
    held_references(case, &books)
        .or_else(|| larger_tensors(case, &books))
        .or_else(|| by_malloc(case, &books))
        .or_else(|| by_tensors_alone(case, &books))
}

/// Page-locked host memory has much of the growth, or grows on its own.
pub(super) fn pinned(case: &Case) -> Option<Finding> {
    let track = case.book.inside.track(InsideFact::Pinned);
    let judgement = case.jury.of_subject(Subject::Inside(InsideFact::Pinned));
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

/// The growth of the one who tells, and what its own books say of it.
struct Books {
    growth: f64,
    tensors: Option<f64>,
    /// In host memory.
    tensor_bytes: Option<f64>,
    malloc: Option<Malloc>,
    python_blocks: Option<f64>,
}

struct Malloc {
    used: f64,
    kept: f64,
}

impl Books {
    /// `None` when memory does not grow, or another one's does.
    fn of(case: &Case) -> Option<Books> {
        let growth = case.memory_growth()?;
        if case.teller_growth() < MOSTLY_THE_TELLER * growth {
            return None;
        }
        let grown = |fact| grown(case, fact);
        let on_devices = grown(InsideFact::DeviceTensorBytes).unwrap_or(0.0);
        let malloc = grown(InsideFact::MallocUsed).zip(grown(InsideFact::MallocFree));
        Some(Books {
            growth,
            tensors: grown(InsideFact::Tensors),
            tensor_bytes: grown(InsideFact::TensorBytes).map(|bytes| bytes - on_devices),
            malloc: malloc.map(|(used, kept)| Malloc { used, kept }),
            python_blocks: grown(InsideFact::PythonBlocks),
        })
    }

    /// Whether so much can be in Python's blocks at all.
    fn may_be_python(&self) -> Option<f64> {
        let blocks = self.python_blocks?;
        (blocks * LARGEST_BLOCK >= EXPLAINS * self.growth).then_some(blocks)
    }
}

/// How much a fact grew since the onset, if it was counted often enough.
fn grown(case: &Case, fact: InsideFact) -> Option<f64> {
    let track = case.book.inside.track(fact);
    let known = track.points() >= LEAST_COUNTS;
    known.then(|| track.growth_since(case.onset, case.now))
}

/// Tensors rise with memory.
fn held_references(case: &Case, books: &Books) -> Option<Finding> {
    if !tensors_rise_with_memory(case.book, case.jury, case.onset) {
        return None;
    }
    let more = books.tensors?;
    let each = more / (case.now - case.onset).max(1.0);
    let (unit, since, grown) = (case.unit.name(), case.since(), amount(books.growth));
    let sorts = sorts(case.book.inside.grown());
    let text = format!(
        "live tensors rise with memory: {more:+.0} ({each:+.2} per {unit}) while memory grew by \
         {grown} {since}, so references are kept{sorts}"
    );
    Some(finding("held-references", text, WHERE_REFERENCES_ARE_KEPT))
}

const WHERE_REFERENCES_ARE_KEPT: &str = "look for losses or outputs that are appended or summed without \
    .detach() or .item(), and for caches without a bound; a cache that is meant to fill ends with the first \
    epoch";

/// As many tensors as before, with more in them.
fn larger_tensors(case: &Case, books: &Books) -> Option<Finding> {
    let bytes = books.tensor_bytes?;
    let rise = rises_with_memory(case.book, InsideFact::TensorBytes, case.onset);
    if bytes < EXPLAINS * books.growth || !rise {
        return None;
    }
    let count = case.book.inside.tensors().newest();
    let (bytes, grown, since) = (amount(bytes), amount(books.growth), case.since());
    let sorts = sorts(case.book.inside.grown());
    let text = format!(
        "tensors become larger: {bytes} more in {count:.0} of them while memory grew by {grown} {since}{sorts}"
    );
    let next = "look for buffers that are extended with torch.cat or append at each step: histories, \
                replay buffers, key-value caches";
    Some(finding("held-references", text, next))
}

/// What malloc and Python's own allocator say of growth that is not in tensors.
fn by_malloc(case: &Case, books: &Books) -> Option<Finding> {
    let Malloc { used, kept } = *books.malloc.as_ref()?;
    if tensors_pile_up(case, books) {
        return None;
    }
    let python = python_objects(case, books).filter(|_| used < EXPLAINS * books.growth);
    if python.is_some() {
        return python;
    }
    if used + kept < NOT_MALLOCS * books.growth {
        return Some(outside_malloc(case, books));
    }
    Some(if used >= kept {
        native(case, books, used)
    } else {
        retention(case, books, used, kept)
    })
}

fn native(case: &Case, books: &Books, used: f64) -> Finding {
    let (used, grown, since) = (amount(used), amount(books.growth), case.since());
    let tensors = tensor_words(case, books);
    let blocks = books.python_blocks.unwrap_or(0.0);
    let python = match rises_with_memory(case.book, InsideFact::PythonBlocks, case.onset) {
        true => format!(
            "; Python objects became more, too ({blocks:+.0} blocks): arrays, images or bytes that Python keeps \
             are malloc's as well"
        ),
        false => String::new(),
    };
    let text = format!(
        "malloc has {used} more in use while memory grew by {grown} {since}{tensors}: native \
         code keeps it{python}"
    );
    let next = "`memray run --native` names the allocating code, but sees no malloc that is reached through \
                dlsym; jemalloc with MALLOC_CONF=prof:true does";
    finding("native-growth", text, next)
}

fn retention(case: &Case, books: &Books, used: f64, kept: f64) -> Finding {
    let track = case.book.inside.track(InsideFact::MallocUsed);
    let (now, kept, grown) = (amount(track.newest()), amount(kept), amount(books.growth));
    let moved = match used < TENSORS_LEVEL * track.newest() {
        true => format!("stays at {now}"),
        false => format!("rose by {} to {now}", amount(used)),
    };
    let (since, trimmed) = (case.since(), trimmed_words(case).unwrap_or_default());
    let text = format!(
        "what malloc has in use {moved}, but it keeps {kept} more that was freed, while memory grew by {grown} \
         {since}: holes in the heap, no leak of the program{trimmed}"
    );
    finding("allocator-retention", text, AGAINST_HOLES)
}

const AGAINST_HOLES: &str = "MALLOC_MMAP_THRESHOLD_=65536 (glibc) keeps large blocks out of the heap; also \
    MALLOC_ARENA_MAX=2, jemalloc, or malloc_trim(0) now and then";

fn outside_malloc(case: &Case, books: &Books) -> Finding {
    let (grown, since) = (amount(books.growth), case.since());
    let tensors = tensor_words(case, books);
    let text = format!(
        "memory grew by {grown} {since}, and malloc does not have it{tensors}: it is mapped directly, by a \
         library or a driver"
    );
    let next = "`pmap -x PID | sort -n -k3` shows the mappings that grow; stacks of threads, arenas of other \
                allocators and buffers of readers are mapped this way";
    finding("native-growth", text, next)
}

/// Python objects that are no tensors pile up.
fn python_objects(case: &Case, books: &Books) -> Option<Finding> {
    let blocks = books.may_be_python()?;
    if !rises_with_memory(case.book, InsideFact::PythonBlocks, case.onset) {
        return None;
    }
    let each = blocks / (case.now - case.onset).max(1.0);
    let (unit, grown, since) = (case.unit.name(), amount(books.growth), case.since());
    let text = format!(
        "Python objects rise with memory: {blocks:+.0} blocks ({each:+.1} per {unit}) while memory grew by \
         {grown} {since}, and neither tensors nor malloc do: objects are kept"
    );
    let next = "look for lists, dicts and strings that grow: metrics, logs, samples kept by number; \
                tracemalloc.start() and a snapshot's compare_to() name the lines";
    Some(finding("python-objects", text, next))
}

/// Where the training tells its tensors and nothing of malloc.
fn by_tensors_alone(case: &Case, books: &Books) -> Option<Finding> {
    books.tensors?;
    if books.malloc.is_some() || tensors_pile_up(case, books) {
        return None;
    }
    if let Some(found) = python_objects(case, books) {
        return Some(found);
    }
    let tensors = case.book.inside.tensors();
    let (count, swing) = (tensors.newest(), tensors.swing());
    let (grown, since) = (amount(books.growth), case.since());
    if swing > TENSORS_COME_AND_GO * count.max(1.0) {
        let text = format!(
            "tensors come and go ({count:.0} now, over a range of {swing:.0}) without piling up while memory \
             grew by {grown} {since}: memory that is freed and not returned"
        );
        let next = "try MALLOC_MMAP_THRESHOLD_=65536 or jemalloc; gc.collect() every few hundred steps \
                    keeps reference cycles from holding batches";
        return Some(finding("allocator-retention", text, next));
    }
    let text = format!(
        "tensors stay at {count:.0} while memory grew by {grown} {since}: no Python reference to a \
         tensor piles up; native code keeps it, or the allocator does not return it"
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
            case.book.inside.tensors().newest()
        ),
        None => String::new(),
    }
}

/// Tensors become more, though not so that they would explain the growth.
fn tensors_pile_up(case: &Case, books: &Books) -> bool {
    let tensors = case.book.inside.tensors();
    let more = books.tensors.unwrap_or(0.0);
    let leak = case
        .jury
        .of_subject(Subject::Inside(InsideFact::Tensors))
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
    let back = case.book.inside.track(InsideFact::Trimmed).newest();
    let is_much = back > 0.0 && back >= case.material();
    is_much.then(|| format!("; malloc_trim gave {} back", amount(back)))
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
