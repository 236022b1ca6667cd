#!/bin/sh
# slurm.sh start FOLDER [NODES [CPUS]]   Slurm on this machine's loopback, all it writes in FOLDER
# slurm.sh stop FOLDER                   ends what `start` began and removes FOLDER
#
# For root, on Debian or Ubuntu, with the packages of tools/packages.txt [bench-live]; it installs
# nothing. NODES (4) slurmd offer CPUS (8) each, whatever the machine has; accounting is off. What
# is set to other than Slurm's defaults makes it faster. `start` prints the path of slurm.conf,
# which clients are to be given in SLURM_CONF.
set -eu

fail() {
  echo "slurm.sh: $*" >&2
  exit 2
}

[ $# -ge 2 ] || fail "write start FOLDER [NODES [CPUS]], or stop FOLDER"
command=$1
folder=$2

# A busy slurmctld takes its time, but not for ever.
wait_gone() {
  tries=0
  while kill -0 "$1" 2>/dev/null; do
    tries=$((tries + 1))
    if [ $tries -eq 200 ]; then kill -KILL "$1" 2>/dev/null || true; fi
    if [ $tries -ge 400 ]; then return; fi
    sleep 0.05
  done
}

stop() {
  [ -f "$folder/slurm.conf" ] || fail "$folder: no Slurm was started there"
  for file in "$folder"/pids/slurmd.* "$folder/pids/slurmctld" "$folder/pids/munged"; do
    [ -f "$file" ] || continue
    pid=$(cat "$file")
    kill "$pid" 2>/dev/null || continue
    wait_gone "$pid"
  done
  rm -rf "$(cat "$folder/pids/spool")" "$folder"
}

start_munge() {
  mkdir -m 755 "$folder/munge"
  dd if=/dev/urandom of="$folder/munge/key" bs=1024 count=1 2>/dev/null
  chmod 400 "$folder/munge/key"
  chown -R munge:munge "$folder/munge"
  setpriv --reuid=munge --regid=munge --clear-groups munged --force \
    --key-file="$folder/munge/key" --socket="$folder/munge/socket" \
    --pid-file="$folder/munge/pid" --seed-file="$folder/munge/seed" \
    --log-file="$folder/munge/log" 2>>"$folder/munge.errors"
  cp "$folder/munge/pid" "$folder/pids/munged"
}

write_configuration() {
  host=$(hostname -s)
  cat >"$folder/slurm.conf" <<END
ClusterName=bench
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=16817
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
JobCompType=jobcomp/none
StateSaveLocation=$folder/state
SlurmctldPidFile=$folder/slurmctld.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdSpoolDir=$spool/%n
SlurmdPidFile=$folder/%n.pid
SlurmdLogFile=$folder/%n.log
SlurmctldDebug=error
SlurmdDebug=error
MaxJobCount=2000000
MaxArraySize=100001
MinJobAge=300
ReturnToService=2
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0,bf_interval=2,default_queue_depth=1000,max_rpc_cnt=0
NodeName=n[1-$nodes] NodeHostname=$host NodeAddr=127.0.0.1 Port=[16821-$((16820 + nodes))] CPUs=$cpus Sockets=1 CoresPerSocket=$cpus ThreadsPerCore=1 RealMemory=1000
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
}

start() {
  nodes=${1:-4}
  cpus=${2:-8}
  [ "$(id -u)" = 0 ] || fail "slurmd starts jobs as their users, so this needs root"
  for program in munged slurmctld slurmd sinfo; do
    command -v "$program" >/dev/null || fail "there is no $program; call tools/setup bench-live"
  done
  mkdir -m 755 "$folder" || fail "$folder: name a folder that is not there yet"
  mkdir "$folder/pids" "$folder/state"
  # In memory where there is such a file system, as the agents' state beside it: neither need
  # outlive a boot.
  spool=$folder/spool
  if [ -d /dev/shm ]; then spool=$(mktemp -d /dev/shm/slurm-spool-XXXXXX); fi
  echo "$spool" >"$folder/pids/spool"
  mkdir -p "$spool"
  start_munge
  write_configuration
  export SLURM_CONF="$folder/slurm.conf"
  slurmctld -D >"$folder/slurmctld.out" 2>&1 &
  echo $! >"$folder/pids/slurmctld"
  for i in $(seq "$nodes"); do
    mkdir "$spool/n$i"
    slurmd -D -N "n$i" >"$folder/slurmd.$i.out" 2>&1 &
    echo $! >"$folder/pids/slurmd.$i"
  done
  tries=0
  until [ "$(sinfo -h -t idle -o %D 2>/dev/null)" = "$nodes" ]; do
    tries=$((tries + 1))
    if [ $tries -ge 300 ]; then
      tail -n 5 "$folder"/*.log "$folder"/*.out >&2
      fail "its nodes have not come up within 30 s; the last lines of its logs are above"
    fi
    sleep 0.1
  done
  echo "$SLURM_CONF"
}

shift 2
case $command in
  start) start "$@" ;;
  stop) stop ;;
  *) fail "'$command': write start or stop" ;;
esac
