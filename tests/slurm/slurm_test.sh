#!/usr/bin/env bash
# tests/slurm/slurm_test.sh: a sweep on a real Slurm of one node gives the tables of a local one.
#
#   tests/slurm/slurm_test.sh path/to/atoll      as root (munged and slurmd want it); about a minute
#
# Sets up a Slurm of its own in a temporary folder (own munge key, ports and state; no cgroups, no systemd),
# runs `atoll sweep --executor slurm`, sends one task back to the queue half way and kills another with
# SIGKILL, compares the merged tables byte for byte with a local sweep's, and takes everything down.
# Where Slurm is not installed, or without root, it says "skipped" and exits with 77.
# Teeth:  seen failing with --resume left out of the task's command (its own folder refuses it), and with
#         no task queued again (the killed shard never ends).
set -euo pipefail

atoll=$(readlink -f "$1")
skip() { echo "skipped: $*"; exit 77; }
[ "$(id -u)" -eq 0 ] || skip "a private Slurm needs root"
export PATH="$PATH:/usr/sbin:/sbin"
for program in munged slurmctld slurmd sbatch squeue sinfo scontrol; do
  command -v "$program" >/dev/null || skip "$program is not installed (apt-get install slurm-wlm munge)"
done

work=$(mktemp -d -t atoll-slurm-XXXXXX)
slurm=$work/slurm
stop() {
  for daemon in slurmd slurmctld; do
    [ -s "$slurm/$daemon.pid" ] && kill "$(cat "$slurm/$daemon.pid")" 2>/dev/null
  done
  sleep 1
  [ -s "$slurm/munge/pid" ] && kill "$(cat "$slurm/munge/pid")" 2>/dev/null
  rm -rf "$work"
}
trap stop EXIT
fail() {
  echo "FAILED: $*"
  tail -n 20 "$slurm"/log/*.log "$work"/cluster/*.sweep/slurm/*.log 2>/dev/null || true
  exit 1
}

# munged refuses a socket below a folder that others cannot enter.
chmod 755 "$work"
mkdir -p "$slurm"/{state,spool,log,munge}
head -c 1024 /dev/urandom >"$slurm/munge/key"
chmod 400 "$slurm/munge/key"
chmod 755 "$slurm" "$slurm/munge"

host=$(hostname -s)
first_port=$((20000 + RANDOM % 20000))
cat >"$slurm/slurm.conf" <<END
ClusterName=atoll
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$slurm/munge/socket,cred_expire=5
SlurmctldPort=$first_port
SlurmdPort=$((first_port + 1))
StateSaveLocation=$slurm/state
SlurmdSpoolDir=$slurm/spool
SlurmctldPidFile=$slurm/slurmctld.pid
SlurmdPidFile=$slurm/slurmd.pid
SlurmctldLogFile=$slurm/log/slurmctld.log
SlurmdLogFile=$slurm/log/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
KillWait=5
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=2 RealMemory=1000 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES State=UP
END
# Without this file slurmd dies where no cgroup file system is mounted.
echo "CgroupPlugin=cgroup/v1" >"$slurm/cgroup.conf"
export SLURM_CONF=$slurm/slurm.conf

wait_for() {  # wait_for SECONDS COMMAND...: until it succeeds
  local tries=$(($1 * 10))
  shift
  until "$@" >/dev/null 2>&1; do
    tries=$((tries - 1))
    [ "$tries" -gt 0 ] || return 1
    sleep 0.1
  done
}
node_is_idle() { [ "$(sinfo -h -o %t)" = idle ]; }

munged --socket="$slurm/munge/socket" --key-file="$slurm/munge/key" --pid-file="$slurm/munge/pid" \
  --log-file="$slurm/munge/log" --seed-file="$slurm/munge/seed" --force
slurmctld -c
slurmd
wait_for 60 node_is_idle || fail "the node never became idle"

# Four points of 24 runs, each run a third of a second of one core: long enough to be met half way.
cat >"$work/slow.toml" <<'END'
format = 1
name = "A third of a second of computing a run"
seed = 1
marks = { time = "30 d" }
[model]
parameters = 5e9
batch_tokens = 4194304
[network]
model = "none"
[[region]]
name = "everywhere"
[[island]]
name = "cluster"
region = "everywhere"
chip = "tpu-v5p"
chips = 4096
slices = 64
[training]
method = "decoupled-diloco"
learners = 8
step_time = "4 s"
failure_acts = "step-end"
[[failure]]
name = "chips"
target = "chip"
mtbi = "10 d"
clock = "stepping"
repair = { kind = "exponential", mean = "60 s" }

[sweep]
seeds = "1..24"
[[sweep.axis]]
key = "failure.chips.mtbi"
values = ["1 d", "1.2 d", "1.5 d", "2 d"]
END
cd "$work"

echo "== local"
time "$atoll" sweep slow.toml --results local --quiet

echo "== slurm"
"$atoll" sweep slow.toml --results cluster --executor slurm --slurm-time 10 --slurm-memory 200 --test-slurm-look 0.5 2>notes &
sweep=$!
rows() { cat cluster/slow.sweep/shard-"$1"-of-4/journal/*.journal 2>/dev/null | grep -c '"run"'; }
some_rows() { [ "$(rows "$1")" -ge 3 ]; }
wait_for 60 some_rows 1 || fail "shard 1 never began"
job=$(squeue -h -o %A | sort -n | head -1)
echo "requeue of task 1 at $(rows 1) of 24 runs"
scontrol requeue "${job}_1"
wait_for 120 some_rows 2 || fail "shard 2 never began"
# The task's first process: the oldest of that command line that works in our folder.
victim=""
for pid in $(pgrep -f -- "--shard 2/4"); do
  [ "$(readlink "/proc/$pid/cwd")" = "$work" ] && victim=$pid && break
done
[ -n "$victim" ] || fail "shard 2 has no process"
echo "kill -9 of task 2 at $(rows 2) of 24 runs"
kill -9 "$victim"
wait "$sweep" || fail "the sweep ended with $?: $(cat notes)"
cat notes
grep -q "shard 2/4 is gone from the queue" notes || fail "the killed task was not queued again"

for table in runs.csv points.csv; do
  cmp "local/slow.sweep/$table" "cluster/slow.sweep/$table" || fail "$table differs"
done
[ -z "$(squeue -h)" ] || fail "tasks are left in the queue"
echo "passed: merged tables are those of the local sweep, byte for byte"
