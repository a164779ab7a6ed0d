//! Lines of format version 1 as values of the program.

use crate::allocation::{
    AllocationReading, AllocationSite, BlockKind, Holder, HolderKind, MissedBlocks, SiteHolder,
    SiteId, SiteReading, StackFrame,
};
use crate::environment::Software;
use crate::process::{Pid, ProcessIndex, ProcessInfo, ProcessKey, Rank, StartTicks};
use crate::progress::{Mark, MarkKind};
use crate::recording::v1::{
    AllocRow, EarlierRunsRow, EndName, EndRow, FillingRow, HeaderRow, HolderRow, MapsRow, MarkRow,
    ProcessRow, PssRow, RoleName, SiteRow, SoftwareRow,
};
use crate::recording::{
    EarlierRuns, End, EndReason, FORMAT_VERSION, Header, RecordingError, RunAxis, StatedFacts,
    Target,
};
use crate::sample::{FastCounters, FillingMapping, Kinds, PssReading, SharedNames};
use crate::units::{Bytes, Seconds, Step};

/// Checks the version before all other fields: a later format may change every one of them.
pub fn header(line: &[u8]) -> Result<Header, RecordingError> {
    let value: serde_json::Value =
        serde_json::from_slice(line).map_err(|_| RecordingError::NotARecording)?;
    let fields = value.get("header").ok_or(RecordingError::NotARecording)?;
    if fields.get("format").and_then(|f| f.as_str()) != Some("leveloff-recording") {
        return Err(RecordingError::NotARecording);
    }
    let version = fields.get("version").and_then(serde_json::Value::as_u64);
    match version.and_then(|v| u32::try_from(v).ok()) {
        Some(found) if found > FORMAT_VERSION => return Err(RecordingError::Newer { found }),
        Some(_) => {}
        None => return Err(RecordingError::NotARecording),
    }
    let row: HeaderRow =
        serde_json::from_value(fields.clone()).map_err(|_| RecordingError::NotARecording)?;
    Ok(Header {
        tool: row.tool,
        started_unix: row.started_unix,
        host: row.host,
        kernel: row.kernel,
        target: match (row.command, row.pid) {
            (Some(command), _) => Target::Command(command),
            (None, Some(pid)) => Target::Attached(Pid(pid)),
            (None, None) => Target::System,
        },
        interval: Seconds(row.interval_s),
        pss_budget_percent: row.pss_budget_percent,
        stated: StatedFacts {
            level_by: row.level_by.map(Step),
            level_by_time: row.level_by_s.map(Seconds),
            level_by_is_assumed: false,
            limit: row.limit.and_then(|text| text.parse().ok()),
            planned_steps: row.planned_steps.map(Step),
            epoch_steps: row.epoch_steps.map(Step),
            earlier: row.earlier_runs.and_then(earlier_runs),
        },
    })
}

/// `None` for an axis of a later version.
fn earlier_runs(row: EarlierRunsRow) -> Option<EarlierRuns> {
    Some(EarlierRuns {
        axis: RunAxis::named(&row.unit)?,
        runs: row.runs,
        earliest: row.level_from,
        latest: row.level_to,
    })
}

pub fn process_info(row: ProcessRow) -> ProcessInfo {
    ProcessInfo {
        index: ProcessIndex(row.n),
        key: ProcessKey {
            pid: Pid(row.pid),
            start: StartTicks(row.start),
        },
        parent: Pid(row.ppid),
        role: (&row.role).into(),
        unknown_role: match row.role {
            RoleName::Unknown(name) => Some(name),
            _ => None,
        },
        rank: row.rank.map(Rank),
        comm: row.comm,
        command: row.cmd,
        why: row.why,
    }
}

pub fn software(row: SoftwareRow) -> Software {
    Software {
        process: ProcessIndex(row.n),
        python: row.python,
        packages: row.packages,
        variables: row.variables,
    }
}

pub fn mark(row: MarkRow) -> Option<Mark> {
    let kind = match (row.phase, row.epoch, row.event, row.clock) {
        (Some(phase), ..) => MarkKind::Phase(phase.into()),
        (None, Some(epoch), ..) => MarkKind::Epoch(epoch),
        (None, None, Some(event), _) => MarkKind::Event(event),
        (None, None, None, Some(counter)) => MarkKind::Clock(counter),
        (None, None, None, None) => MarkKind::Event(row.unknown.into_keys().next()?),
    };
    Some(Mark {
        t: Seconds(row.t),
        process: row.n.map(ProcessIndex),
        step: row.step.map(Step),
        kind,
        path: row.path,
        malloc_used: row.malloc_used_bytes.map(Bytes),
        facts: row.facts,
    })
}

pub fn kinds(row: &MapsRow) -> Kinds {
    Kinds {
        heap: Bytes(row.heap),
        anonymous: Bytes(row.anonymous),
        stacks: Bytes(row.stacks),
        file: Bytes(row.file),
        devshm: Bytes(row.devshm),
        memfd: Bytes(row.memfd),
        device: Bytes(row.device),
        swap: Bytes(row.swap),
        other: row
            .unknown
            .values()
            .filter_map(serde_json::Value::as_u64)
            .map(Bytes)
            .sum(),
        shared: row.shared.map(|shared| SharedNames {
            torch: Bytes(shared.torch),
            plasma: Bytes(shared.plasma),
            memfd: Bytes(shared.memfd),
        }),
    }
}

pub fn filling(row: FillingRow) -> FillingMapping {
    FillingMapping {
        number: row.number,
        size: Bytes(row.size),
        used: Bytes(row.used),
    }
}

pub fn pss_reading(row: &PssRow) -> PssReading {
    PssReading {
        at: Seconds(row.t),
        pss: Bytes(row.pss),
        anon: Bytes(row.anon),
        file: Bytes(row.file),
        shmem: Bytes(row.shmem),
        private: Bytes(row.private),
        swap: Bytes(row.swap),
        lazy_free: Bytes(row.lazy),
        hugetlb: Bytes(row.hugetlb),
        base: FastCounters {
            anon: Bytes(row.base[0]),
            shmem: Bytes(row.base[1]),
            swap: Bytes(row.base[2]),
        },
    }
}

pub fn end(row: &EndRow) -> End {
    let code = row.code.unwrap_or_default();
    End {
        t: Seconds(row.t),
        reason: match row.reason {
            EndName::Exited => EndReason::Exited(code),
            EndName::Signalled => EndReason::Signalled(code),
            EndName::TargetGone => EndReason::TargetGone,
            EndName::Duration => EndReason::Duration,
            EndName::Stopped => EndReason::Stopped,
            EndName::Other | EndName::Unknown(_) => EndReason::Other,
        },
    }
}

pub fn site(row: SiteRow) -> AllocationSite {
    let frame = |(function, file, line, is_python)| StackFrame {
        function,
        file,
        line,
        is_python: is_python == 1_u8,
    };
    AllocationSite {
        id: SiteId(row.id),
        pid: Pid(row.pid),
        kind: BlockKind::from_name(&row.kind),
        stack: row.stack.into_iter().map(frame).collect(),
        source: row.source,
    }
}

pub fn holder(row: HolderRow) -> SiteHolder {
    let [kept, looked_at] = row.kept;
    SiteHolder {
        site: SiteId(row.of),
        holder: Holder {
            class: row.class,
            length: row.length,
            kind: HolderKind::from_name(&row.kind),
            name: row.name,
            place: row.place,
            kept,
            looked_at,
        },
    }
}

pub fn allocations(row: &AllocRow) -> AllocationReading {
    let kib = |amount: u64| Bytes(amount.saturating_mul(1024));
    let site = |&[id, live, blocks, error, freed]: &[u64; 5]| SiteReading {
        site: SiteId(u32::try_from(id).unwrap_or(u32::MAX)),
        live: kib(live),
        blocks,
        error: kib(error),
        freed,
    };
    AllocationReading {
        t: Seconds(row.t),
        live: kib(row.live),
        missed: row
            .missed
            .map(|[missed, sampled]| MissedBlocks { missed, sampled }),
        sites: row.of.iter().map(site).collect(),
    }
}
