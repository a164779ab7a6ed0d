//! The parts of a sample line that hold only what changed since the last one.
//!
//! A row is declared once, with the names of the file beside those of the program. Amounts and times are the program's
//! types: they are plain numbers in the file.

use serde::{Deserialize, Serialize};

use super::{Change, known};
use crate::sample::{CgroupReading, MachineReading, ProcessReading};
use crate::units::{ByteDelta, Bytes, CpuMillis};

/// Declares a row, what it holds between two states, and how it is applied to a state. Fields of `always` are never
/// unknown. Those of `known` are written as `null` when they stopped being known.
macro_rules! changes {
    (
        $row:ident $({ $key:ident: $key_type:ty })? of $state:ident:
        always { $($a_name:ident: $a_type:ty = $a_field:ident,)* }
        known { $($k_name:ident: $k_type:ty = $k_field:ident,)* }
    ) => {
        #[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(default)]
        pub struct $row {
            $(pub $key: $key_type,)?
            $(
                #[serde(skip_serializing_if = "Option::is_none")]
                pub $a_name: Option<$a_type>,
            )*
            $(
                #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "known")]
                pub $k_name: Change<$k_type>,
            )*
        }

        impl $row {
            /// What is different from a state before; everything, if there is none.
            pub fn between(before: Option<&$state>, now: &$state) -> $row {
                $(
                    let was = before.map(|before| &before.$a_field);
                    let $a_name = (was != Some(&now.$a_field)).then(|| now.$a_field.clone().into());
                )*
                $(
                    let was = before.and_then(|before| before.$k_field);
                    let $k_name = (was != now.$k_field).then_some(now.$k_field);
                )*
                $row { $($key: Default::default(),)? $($a_name,)* $($k_name,)* }
            }

            /// Changes a state.
            pub fn apply(&self, state: &mut $state) {
                $(
                    if let Some(now) = &self.$a_name {
                        state.$a_field = now.clone().into();
                    }
                )*
                $(
                    if let Some(now) = self.$k_name {
                        state.$k_field = now;
                    }
                )*
            }
        }
    };
}

changes! {
    ProcessChange { n: u32 } of ProcessReading:
    always {
        state: char = state,
        anon: Bytes = anon,
        file: Bytes = file,
        shmem: Bytes = shmem,
        swap: Bytes = swap,
        inherited: Bytes = inherited,
        returned: Bytes = returned,
        transferred: ByteDelta = transferred,
        uncertainty: Bytes = uncertainty,
        threads: u32 = threads,
        flt: u64 = minor_faults,
        majflt: u64 = major_faults,
        cpu: CpuMillis = cpu,
    }
    known {
        fds: u32 = fds,
        gpu: Bytes = gpu,
        vm: Bytes = virtual_size,
    }
}

changes! {
    MachineChange of MachineReading:
    always {}
    known {
        total: Bytes = total,
        avail: Bytes = available,
        shmem: Bytes = shmem,
        devshm: Bytes = devshm_used,
        devshm_own: Bytes = devshm_own,
        devshm_foreign: Bytes = devshm_foreign,
        devshm_size: Bytes = devshm_size,
        memfd_own: Bytes = memfd_own,
        swap: Bytes = swap_used,
        swap_size: Bytes = swap_total,
        psi_some: f32 = pressure_some,
        psi_full: f32 = pressure_full,
        oom_kills: u64 = oom_kills,
    }
}

changes! {
    CgroupChange of CgroupReading:
    always {
        version: u8 = version,
        path: String = path,
    }
    known {
        limit: Bytes = limit,
        high: Bytes = high,
        cur: Bytes = current,
        anon: Bytes = anon,
        file: Bytes = file,
        shmem: Bytes = shmem,
        reclaimable: Bytes = reclaimable,
        limit_hits: u64 = limit_hits,
        oom_kills: u64 = oom_kills,
    }
}
