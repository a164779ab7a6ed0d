//! Types of the program as rows of the file.

use std::collections::BTreeMap;

use crate::allocation::SiteHolder;
use crate::environment::Software;
use crate::process::{ProcessIndex, ProcessInfo};
use crate::progress::{Mark, MarkKind, StepSource};
use crate::recording::allocations::AllocationEncoder;
use crate::recording::v1::{
    EarlierRunsRow, EndName, EndRow, ExitRow, FillingRow, GapRow, HeaderRow, HolderRow, MapsRow,
    MarkRow, ProcessChange, ProcessRow, PssRow, RoleName, Row, SharedRow, SoftwareRow,
    StepSourceRow,
};
use crate::recording::{End, EndReason, FORMAT_VERSION, Header, Target, limit_to_text};
use crate::sample::{Event, Gap, MappingReading, ProcessReading, PssReading};
use crate::training_counters::{GrownObjects, GrownTensors, RecompileReason};
use crate::units::Bytes;

pub(super) fn header_row(header: &Header) -> HeaderRow {
    let (command, pid) = match &header.target {
        Target::Command(command) => (Some(command.clone()), None),
        Target::Attached(pid) => (None, Some(pid.0)),
        Target::System => (None, None),
    };
    HeaderRow {
        format: "leveloff-recording".to_owned(),
        version: FORMAT_VERSION,
        tool: header.tool.clone(),
        started_unix: header.started_unix,
        host: header.host.clone(),
        kernel: header.kernel.clone(),
        command,
        pid,
        interval_s: header.interval.0,
        pss_budget_percent: header.pss_budget_percent,
        level_by: header.stated.level_by.map(|s| s.0),
        level_by_s: header.stated.level_by_time.map(|s| s.0),
        limit: header.stated.limit.map(limit_to_text),
        planned_steps: header.stated.planned_steps.map(|s| s.0),
        epoch_steps: header.stated.epoch_steps.map(|s| s.0),
        earlier_runs: header.stated.earlier.map(|earlier| EarlierRunsRow {
            unit: earlier.axis.name().to_owned(),
            runs: earlier.runs,
            level_from: earlier.earliest,
            level_to: earlier.latest,
        }),
    }
}

pub(super) fn event_row(event: &Event, allocations: &mut AllocationEncoder) -> Row {
    match event {
        Event::Appeared(info) => Row::Process(process_row(info)),
        Event::Changed(info) => Row::Changed(process_row(info)),
        Event::Exited(index) => Row::Exit(ExitRow { n: index.0 }),
        Event::Mark(mark) => Row::Mark(mark_row(mark)),
        Event::Software(software) => Row::Software(software_row(software)),
        Event::Gap(gap) => Row::Gap(gap_row(gap)),
        Event::Site(site) => allocations.line(site),
        Event::Allocations(reading) => allocations.held(reading),
        Event::Holder(holder) => Row::Holder(holder_row(holder)),
    }
}

fn holder_row(found: &SiteHolder) -> HolderRow {
    let holder = &found.holder;
    HolderRow {
        of: found.site.0,
        class: holder.class.clone(),
        length: holder.length,
        kind: holder.kind.name().to_owned(),
        name: holder.name.clone(),
        place: holder.place.clone(),
        kept: [holder.kept, holder.looked_at],
    }
}

fn process_row(info: &ProcessInfo) -> ProcessRow {
    ProcessRow {
        n: info.index.0,
        pid: info.key.pid.0,
        start: info.key.start.0,
        ppid: info.parent.0,
        role: match &info.unknown_role {
            Some(name) => RoleName::Unknown(name.clone()),
            None => info.role.into(),
        },
        rank: info.rank.map(|rank| rank.0),
        comm: info.comm.clone(),
        cmd: info.command.clone(),
        why: info.why.clone(),
    }
}

fn mark_row(mark: &Mark) -> MarkRow {
    let mut row = MarkRow {
        t: mark.t.0,
        n: mark.process.map(|index| index.0),
        step: mark.step.map(|s| s.0),
        phase: None,
        epoch: None,
        event: None,
        clock: None,
        path: mark.path.clone(),
        malloc_used_bytes: mark.malloc_used.map(|used| used.0),
        facts: mark.facts.clone(),
        unknown: BTreeMap::new(),
    };
    match &mark.kind {
        MarkKind::Phase(phase) => row.phase = Some(phase.name().to_owned()),
        MarkKind::Epoch(epoch) => row.epoch = Some(*epoch),
        MarkKind::Event(name) => row.event = Some(name.clone()),
        MarkKind::Clock(counter) => row.clock = Some(counter.clone()),
    }
    row
}

pub(super) fn step_source_row(source: &StepSource) -> StepSourceRow {
    StepSourceRow {
        kind: source.kind.into(),
        file: source.file.clone(),
        counter: source.counter.clone(),
        pattern: source.pattern.clone(),
    }
}

fn software_row(software: &Software) -> SoftwareRow {
    SoftwareRow {
        n: software.process.0,
        python: software.python.clone(),
        packages: software.packages.clone(),
        variables: software.variables.clone(),
    }
}

fn gap_row(gap: &Gap) -> GapRow {
    GapRow {
        of: gap.subject.into(),
        n: gap.process.map(|index| index.0),
        text: gap.text.clone(),
    }
}

pub(super) fn pss_row(process: ProcessIndex, pss: &PssReading) -> PssRow {
    PssRow {
        n: process.0,
        t: pss.at.0,
        pss: pss.pss.0,
        anon: pss.anon.0,
        file: pss.file.0,
        shmem: pss.shmem.0,
        private: pss.private.0,
        swap: pss.swap.0,
        lazy: pss.lazy_free.0,
        hugetlb: pss.hugetlb.0,
        base: [pss.base.anon.0, pss.base.shmem.0, pss.base.swap.0],
    }
}

pub(super) fn maps_row(mappings: &MappingReading) -> MapsRow {
    let kinds = &mappings.kinds;
    let other = (kinds.other > Bytes::ZERO).then(|| ("other".to_owned(), kinds.other.0.into()));
    MapsRow {
        n: mappings.process.0,
        t: mappings.at.0,
        heap: kinds.heap.0,
        anonymous: kinds.anonymous.0,
        stacks: kinds.stacks.0,
        file: kinds.file.0,
        devshm: kinds.devshm.0,
        memfd: kinds.memfd.0,
        device: kinds.device.0,
        swap: kinds.swap.0,
        filling: mappings.filling.map(|filling| FillingRow {
            number: filling.number,
            size: filling.size.0,
            used: filling.used.0,
        }),
        shared: kinds.shared.map(|shared| SharedRow {
            torch: shared.torch.0,
            plasma: shared.plasma.0,
            memfd: shared.memfd.0,
        }),
        unknown: other.into_iter().collect(),
    }
}

pub(super) fn reason_rows(reasons: &[RecompileReason]) -> Vec<(String, String, u64)> {
    let row = |one: &RecompileReason| (one.kind.name().to_owned(), one.what.clone(), one.count);
    reasons.iter().map(row).collect()
}

pub(super) fn object_rows(grown: &[GrownObjects]) -> Vec<(String, u64)> {
    let row = |objects: &GrownObjects| (objects.what.clone(), objects.more);
    grown.iter().map(row).collect()
}

pub(super) fn grown_rows(grown: &[GrownTensors]) -> Vec<(String, u64, u64)> {
    let row = |tensors: &GrownTensors| (tensors.what.clone(), tensors.more, tensors.more_bytes.0);
    grown.iter().map(row).collect()
}

pub(super) fn process_change(
    before: Option<&ProcessReading>,
    now: &ProcessReading,
) -> ProcessChange {
    let mut change = ProcessChange::between(before, now);
    change.n = now.process.0;
    // Nearly always zero, and a process begins with zero.
    if before.is_none() {
        change.returned = change.returned.filter(|amount| amount.0 != 0);
        change.transferred = change.transferred.filter(|moved| moved.0 != 0);
        change.uncertainty = change.uncertainty.filter(|amount| amount.0 != 0);
    }
    change
}

pub(super) fn end_row(end: &End) -> EndRow {
    let (reason, code) = match end.reason {
        EndReason::Exited(code) => (EndName::Exited, Some(code)),
        EndReason::Signalled(signal) => (EndName::Signalled, Some(signal)),
        EndReason::TargetGone => (EndName::TargetGone, None),
        EndReason::Duration => (EndName::Duration, None),
        EndReason::Stopped => (EndName::Stopped, None),
        EndReason::Other => (EndName::Other, None),
    };
    EndRow {
        t: end.t.0,
        reason,
        code,
    }
}
