//! Ranks and jobs in a process's environment. Nothing else is kept, because an environment holds passwords
//! and tokens.

use leveloff_model::process::Rank;

use crate::kernel::keyed::leading_number;

/// The variables that launchers set, with their values when the program was executed. Later changes are not
/// visible.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    /// RANK.
    pub rank: Option<Rank>,
    /// LOCAL_RANK.
    pub local_rank: Option<Rank>,
    /// WORLD_SIZE.
    pub world_size: Option<u32>,
    /// MASTER_ADDR.
    pub master_address: Option<String>,
    /// MASTER_PORT.
    pub master_port: Option<String>,
    /// JAX_PROCESS_ID.
    pub jax_rank: Option<Rank>,
    /// JAX_COORDINATOR_ADDRESS.
    pub jax_coordinator: Option<String>,
    /// TORCHELASTIC_RUN_ID; torchrun's default, `none`, names no job and is left out.
    pub elastic_run: Option<String>,
    /// SLURM_JOB_ID.
    pub slurm_job: Option<String>,
    /// SLURM_JOB_NAME.
    pub slurm_job_name: Option<String>,
    /// SLURM_STEP_ID.
    pub slurm_step: Option<String>,
    /// SLURM_PROCID.
    pub slurm_rank: Option<Rank>,
    /// OMPI_COMM_WORLD_RANK, or PMI_RANK of the other MPIs.
    pub mpi_rank: Option<Rank>,
    /// JOB_NAME: what Kubernetes' downward values are usually called, and what CI servers set.
    pub job_name: Option<String>,
    /// POD_NAME, likewise.
    pub pod_name: Option<String>,
    /// JOB_COMPLETION_INDEX: which pod of an indexed Kubernetes job it is. It is the same for all processes of
    /// a pod, so it is no rank.
    pub pod_index: Option<Rank>,
    /// TORCH_WARM_POOL=0, which torch sets for the compile workers that it spawns.
    pub compile_pool_forbidden: bool,
}

/// Reads an `environ`; `None` when there is not one variable in it, as after `setproctitle`, which
/// writes the title over it: unknown, not "no rank".
pub fn parse(text: &[u8]) -> Option<Environment> {
    let mut environment = Environment::default();
    let mut any = false;
    for variable in text.split(|&b| b == 0) {
        let Some(equals) = memchr::memchr(b'=', variable) else {
            continue;
        };
        any = true;
        environment.take(&variable[..equals], &variable[equals + 1..]);
    }
    any.then_some(environment)
}

impl Environment {
    /// Its rank from any launcher, torch's own variable first.
    pub fn any_rank(&self) -> Option<Rank> {
        self.rank
            .or(self.mpi_rank)
            .or(self.slurm_rank)
            .or(self.local_rank)
            .or(self.jax_rank)
    }

    /// A name that all ranks of its job share; `None` when it has no rank.
    pub fn job(&self) -> Option<String> {
        self.any_rank()?;
        if let Some(run) = &self.elastic_run {
            return Some(format!("TORCHELASTIC_RUN_ID={run}"));
        }
        if let Some(port) = &self.master_port {
            let address = self.master_address.as_deref().unwrap_or("localhost");
            return Some(format!("MASTER={address}:{port}"));
        }
        if let Some(address) = &self.jax_coordinator {
            return Some(format!("JAX_COORDINATOR_ADDRESS={address}"));
        }
        let job = self.slurm_job.as_ref()?;
        let step = self.slurm_step.as_deref().unwrap_or("batch");
        Some(format!("SLURM_JOB_ID={job}.{step}"))
    }

    /// The name of its job: set by the user, or else by a scheduler.
    pub fn job_title(&self) -> Option<&str> {
        let titles = [&self.job_name, &self.slurm_job_name, &self.slurm_job];
        let mut titles = titles.into_iter().chain([&self.pod_name]);
        titles.find_map(Option::as_deref)
    }

    fn take(&mut self, name: &[u8], value: &[u8]) {
        match name {
            b"RANK" => self.rank = rank(value),
            b"LOCAL_RANK" => self.local_rank = rank(value),
            b"WORLD_SIZE" => self.world_size = number(value),
            b"MASTER_ADDR" => self.master_address = text(value),
            b"MASTER_PORT" => self.master_port = text(value),
            b"JAX_PROCESS_ID" => self.jax_rank = rank(value),
            b"JAX_COORDINATOR_ADDRESS" => self.jax_coordinator = text(value),
            b"TORCHELASTIC_RUN_ID" => self.elastic_run = text(value).filter(|run| run != "none"),
            b"SLURM_JOB_ID" => self.slurm_job = text(value),
            b"SLURM_JOB_NAME" => self.slurm_job_name = text(value),
            b"SLURM_STEP_ID" => self.slurm_step = text(value),
            b"SLURM_PROCID" => self.slurm_rank = rank(value),
            b"OMPI_COMM_WORLD_RANK" | b"PMI_RANK" => self.mpi_rank = rank(value),
            b"JOB_NAME" => self.job_name = text(value),
            b"POD_NAME" => self.pod_name = text(value),
            b"JOB_COMPLETION_INDEX" => self.pod_index = rank(value),
            b"TORCH_WARM_POOL" => self.compile_pool_forbidden = value == b"0",
            _ => {}
        }
    }
}

fn number(value: &[u8]) -> Option<u32> {
    match leading_number(value)? {
        (number, b"") => u32::try_from(number).ok(),
        _ => None,
    }
}

fn rank(value: &[u8]) -> Option<Rank> {
    number(value).map(Rank)
}

fn text(value: &[u8]) -> Option<String> {
    let text = leveloff_model::process::printable(value);
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ranks_and_jobs_are_read_and_secrets_are_not_kept() {
        let text = b"API_TOKEN=hush\0RANK=3\0MASTER_ADDR=node1\0MASTER_PORT=29500\0TORCHELASTIC_RUN_ID=none\0";
        let environment = parse(text).unwrap();
        assert_eq!(environment.any_rank(), Some(Rank(3)));
        assert_eq!(environment.job().as_deref(), Some("MASTER=node1:29500"));
        assert!(!format!("{environment:?}").contains("hush"));
    }

    #[test]
    fn a_job_has_the_name_that_its_user_chose() {
        let title = |text: &[u8]| parse(text).and_then(|e| e.job_title().map(str::to_owned));
        let all = b"POD_NAME=p-0\0SLURM_JOB_ID=77\0SLURM_JOB_NAME=tune\0JOB_NAME=nightly\0";
        assert_eq!(title(all).as_deref(), Some("nightly"));
        let slurm = b"SLURM_JOB_ID=77\0SLURM_JOB_NAME=tune\0JOB_NAME=\0";
        assert_eq!(title(slurm).as_deref(), Some("tune"));
        assert_eq!(title(b"POD_NAME=p-0\0").as_deref(), Some("p-0"));
        assert_eq!(title(b"PATH=/bin\0"), None);
        let pod = parse(b"JOB_COMPLETION_INDEX=3\0").unwrap();
        assert_eq!((pod.pod_index, pod.any_rank()), (Some(Rank(3)), None));
    }

    #[test]
    fn a_port_without_a_rank_is_no_job() {
        assert_eq!(parse(b"MASTER_PORT=29500\0").unwrap().job(), None);
    }

    #[test]
    fn slurm_and_mpi_ranks_count_when_torch_says_none() {
        let slurm = parse(b"SLURM_PROCID=1\0SLURM_JOB_ID=77\0SLURM_STEP_ID=0\0").unwrap();
        assert_eq!(slurm.any_rank(), Some(Rank(1)));
        assert_eq!(slurm.job().as_deref(), Some("SLURM_JOB_ID=77.0"));
        let mpi = parse(b"OMPI_COMM_WORLD_RANK=2\0SLURM_PROCID=0\0").unwrap();
        assert_eq!(mpi.any_rank(), Some(Rank(2)));
    }

    #[test]
    fn processes_of_jax_share_a_coordinator() {
        let jax = parse(b"JAX_PROCESS_ID=1\0JAX_COORDINATOR_ADDRESS=node1:1234\0").unwrap();
        assert_eq!(jax.any_rank(), Some(Rank(1)));
        let job = jax.job();
        assert_eq!(job.as_deref(), Some("JAX_COORDINATOR_ADDRESS=node1:1234"));
    }

    #[test]
    fn an_overwritten_environment_is_unknown() {
        assert_eq!(parse(b""), None);
        assert_eq!(parse(b"y experiment\0\0\0\0"), None);
        assert_eq!(parse(b"RANK=x\0").unwrap().rank, None);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(text in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&text);
            let _ = parse(&[b"RANK=", &text[..]].concat());
        }
    }
}
