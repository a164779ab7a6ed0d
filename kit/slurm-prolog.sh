#!/bin/sh
# Slurm: Prolog= and Epilog= of slurm.conf, as root on each node of a job. A job's memory is published while it runs,
# through node_exporter's textfile collector, so that no port is opened.
#
#   Prolog=/etc/slurm/leveloff.sh
#   Epilog=/etc/slurm/leveloff.sh
#
# The recorder is not a child of slurmd and not in the job's control group, so the job does not pay for it.
# It must never keep a job from starting, so errors go to the log and are otherwise ignored.
#
# Without root on the nodes, use one recorder per task in the batch script (SLURM_PROCID is the rank):
#   srun leveloff run --metrics-file "$HOME/metrics/$SLURM_JOB_ID-$SLURM_PROCID.prom" -- python train.py

unit="leveloff-job-${SLURM_JOB_ID:?}"
place=/var/lib/prometheus/node-exporter

case "${SLURM_SCRIPT_CONTEXT:-}" in
prolog_*)
  systemd-run --quiet --collect --unit="$unit" \
    --property=DynamicUser=yes --property=SupplementaryGroups=prometheus \
    --property=AmbientCapabilities=CAP_SYS_PTRACE --property=CapabilityBoundingSet=CAP_SYS_PTRACE \
    --property=NoNewPrivileges=yes --property=ProtectSystem=strict --property=ReadWritePaths="$place" \
    --property=MemoryMax=96M --property=CPUQuota=5% --property=Nice=10 \
    leveloff record --system --job "${SLURM_JOB_NAME:-$SLURM_JOB_ID}" \
    --metrics-file "$place/$unit.prom" -o /dev/null ||
    logger -t leveloff "job $SLURM_JOB_ID is not watched"
  ;;
epilog_*)
  systemctl stop "$unit.service" 2>/dev/null
  rm -f "$place/$unit.prom"
  ;;
esac
exit 0
