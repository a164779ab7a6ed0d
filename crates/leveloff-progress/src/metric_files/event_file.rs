//! The steps in a TensorBoard event file.
//!
//! The file is a row of TFRecords: the length of the data (8 bytes), a checksum of the length (4), the data, a
//! checksum of the data (4). The data is an `Event` in protobuf: field 1 is the time, field 2 the step, field 5
//! a summary, whose first value has the tag. Only the first bytes of each record are kept: behind the tag
//! there may be an image.

mod event;
mod record_head;

use leveloff_model::progress::StepUnit;
use leveloff_model::units::Step;

use self::event::Event;
use self::record_head::{HEAD_BYTES, RecordHead};
use crate::update::ProgressUpdate;

/// Reads an event file in chunks of any size.
#[derive(Debug, Default)]
pub struct EventFile {
    state: State,
    /// Bytes of the head or of the data that are not parsed yet.
    kept: Vec<u8>,
    tags: Vec<Tag>,
    /// The tag whose steps are reported.
    clock: Option<usize>,
    updates: Vec<ProgressUpdate>,
}

/// What comes next.
#[derive(Debug, Clone, Copy, Default)]
enum State {
    /// The head of a record.
    #[default]
    Head,
    /// Bytes were skipped: some byte ahead is the first of a head.
    Lost,
    /// The data of a record. `left` also counts the checksum behind it.
    Data { left: u64, wanted: usize },
}

/// Words in the tags of an evaluation.
const EVALUATION_WORDS: [&[u8]; 8] = [
    b"val",
    b"valid",
    b"validation",
    b"eval",
    b"evaluation",
    b"test",
    b"sanity",
    b"dev",
];

/// The steps of one tag.
#[derive(Debug)]
struct Tag {
    name: Vec<u8>,
    step: u64,
    /// How often its step rose.
    rises: u64,
}

/// Bytes of an event that are kept: time, step and the first tag fit in.
const EVENT_BYTES: usize = 256;

/// The checksum behind the data.
const DATA_CHECKSUM_BYTES: u64 = 4;

/// Tags that are followed at most. A training has some dozens.
const MOST_TAGS: usize = 64;

/// Tags that reinforcement learning logs by environment steps: stable-baselines3 and CleanRL.
const TIMESTEP_TAGS: [&[u8]; 4] = [b"rollout/", b"time/", b"charts/", b"episodic_return"];

impl EventFile {
    /// A reader at the start of a file.
    pub fn new() -> EventFile {
        EventFile::default()
    }

    /// Reads the next bytes and returns the updates in them, oldest first.
    pub fn feed(&mut self, mut bytes: &[u8]) -> Vec<ProgressUpdate> {
        while !bytes.is_empty() {
            let read = match self.state {
                State::Head | State::Lost => self.read_head(bytes),
                State::Data { left, wanted } => self.read_data(bytes, left, wanted),
            };
            bytes = &bytes[read..];
        }
        std::mem::take(&mut self.updates)
    }

    /// Bytes were skipped: the next ones begin within a record.
    pub fn lose_place(&mut self) {
        self.kept.clear();
        self.state = State::Lost;
    }

    /// The file was written anew: the next bytes are its start.
    pub fn start_over(&mut self) {
        self.kept.clear();
        self.state = State::Head;
    }

    fn read_head(&mut self, bytes: &[u8]) -> usize {
        let read = bytes.len().min(HEAD_BYTES - self.kept.len());
        self.kept.extend_from_slice(&bytes[..read]);
        let Ok(head) = <&[u8; HEAD_BYTES]>::try_from(&self.kept[..]) else {
            return read;
        };
        match RecordHead::parse(head) {
            Some(RecordHead { length }) => {
                self.kept.clear();
                self.state = State::Data {
                    left: length.saturating_add(DATA_CHECKSUM_BYTES),
                    wanted: length.min(EVENT_BYTES as u64) as usize,
                };
            }
            // A record may begin at the next byte.
            None => {
                self.state = State::Lost;
                self.kept.remove(0);
            }
        }
        read
    }

    fn read_data(&mut self, bytes: &[u8], left: u64, wanted: usize) -> usize {
        let missing = wanted - self.kept.len();
        let read = (bytes.len() as u64).min(left) as usize;
        self.kept.extend_from_slice(&bytes[..read.min(missing)]);
        self.state = State::Data {
            left: left - read as u64,
            wanted,
        };
        if left == read as u64 {
            let kept = std::mem::take(&mut self.kept);
            self.take(&Event::parse(&kept));
            self.kept = kept;
            self.kept.clear();
            self.state = State::Head;
        }
        read
    }

    /// One file often mixes tags that are logged by step with others that are logged by epoch. The tag whose
    /// step rose most often is the clock.
    fn take(&mut self, event: &Event<'_>) {
        let (Some(step), Some(tag)) = (event.step, event.tag) else {
            return;
        };
        if is_of_evaluation(tag) {
            return;
        }
        let Some(place) = self.place_of(tag, step) else {
            return;
        };
        let rises = self.tags[place].rises;
        let leads = |clock: &Tag| (rises, step) > (clock.rises, clock.step);
        match self.clock.map(|clock| &self.tags[clock]) {
            Some(clock) if clock.name == tag => self.report(place, step, false),
            Some(clock) if !leads(clock) => {}
            _ => self.report(place, step, true),
        }
    }

    /// The tag's place, after its step was taken; `None` where the step did not rise or there are too many
    /// tags.
    fn place_of(&mut self, name: &[u8], step: u64) -> Option<usize> {
        match self.tags.iter().position(|tag| tag.name == name) {
            Some(place) => {
                let tag = &mut self.tags[place];
                // A training that resumed goes back some steps and rises again from there.
                let rose = step > tag.step;
                (tag.step, tag.rises) = (step, tag.rises + u64::from(rose));
                rose.then_some(place)
            }
            None if self.tags.len() < MOST_TAGS => {
                self.tags.push(Tag {
                    name: name.to_owned(),
                    step,
                    rises: 0,
                });
                Some(self.tags.len() - 1)
            }
            None => None,
        }
    }

    fn report(&mut self, place: usize, step: u64, is_new: bool) {
        self.clock = Some(place);
        let tag = &self.tags[place];
        let by_timestep = TIMESTEP_TAGS
            .iter()
            .any(|part| memchr::memmem::find(&tag.name, part).is_some());
        let unit = match by_timestep {
            true => StepUnit::Timesteps,
            false => StepUnit::Steps,
        };
        self.updates.push(ProgressUpdate {
            step: Some(Step(step)),
            unit: is_new.then_some(unit),
            new_clock: is_new.then(|| String::from_utf8_lossy(&tag.name).into_owned()),
            ..ProgressUpdate::default()
        });
    }
}

/// Whether a tag is of an evaluation, which may count its own batches: Lightning's `val_loss_step` does.
fn is_of_evaluation(tag: &[u8]) -> bool {
    let mut words = tag.split(|byte| !byte.is_ascii_alphabetic());
    words.any(|word| {
        EVALUATION_WORDS
            .iter()
            .any(|known| word.eq_ignore_ascii_case(known))
    })
}

#[cfg(test)]
mod tests;
