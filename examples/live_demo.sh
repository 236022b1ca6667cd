#!/bin/sh
# live_demo.sh ORRERY: a real cluster of two nodes on this machine, real jobs, one of them preempted
# and resumed, one node lost and its job started again; then a replay of the log.
# All files are in a temporary folder that is removed at the end.
set -eu
orrery=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
dir=$(mktemp -d)
export ORRERY_STATE="$dir/scheduler"

say() { printf '\n== %s\n' "$*"; }
run() {
  printf '$ orrery %s\n' "$*"
  "$orrery" "$@"
}
# Everything that belongs to a node, as if its plug were pulled.
kill_node() {
  for process in /proc/[0-9]*; do
    if grep -qs "$dir/$1" "$process/cmdline"; then kill -KILL "${process#/proc/}" || true; fi
  done
}
clean() {
  kill "$scheduler" 2>/dev/null || true
  for node in red blue; do kill_node "$node"; done
  wait 2>/dev/null || true
  rm -rf "$dir"
}
scheduler=0
trap clean EXIT
trap 'exit 1' INT TERM

say "A scheduler, and two nodes with one place for a job each"
"$orrery" serve --state "$ORRERY_STATE" --policy srtf --lease 2s --node-timeout 2s 2>"$dir/scheduler.log" &
scheduler=$!
until [ -s "$ORRERY_STATE/address" ]; do
  kill -0 "$scheduler" || { cat "$dir/scheduler.log"; exit 1; }
  sleep 0.1
done
address=$(cat "$ORRERY_STATE/address")
for node in red blue; do
  "$orrery" token --role agent --name "$node" |
    "$orrery" join --server "$address" --role agent --name "$node" --credentials "$dir/$node-keys"
  "$orrery" agent --state "$dir/$node" --server "$address" --credentials "$dir/$node-keys" \
    --name "$node" --address 127.0.0.1 --gpus 1 2>"$dir/$node.log" &
done
until "$orrery" nodes | grep -q '2 of 2 GPUs free'; do sleep 0.1; done
run nodes

say "Two long jobs take both places; a short one comes, and under srtf goes first"
run submit --name long-1 --time 60s --grace 1s -- sh "$here/count.sh" 60 "$dir/long-1"
run submit --name long-2 --time 90s --grace 1s -- sh "$here/count.sh" 90 "$dir/long-2"
until [ -s "$dir/long-1" ] && [ -s "$dir/long-2" ]; do sleep 0.1; done
run submit --name short --time 2s --wait -- sh "$here/count.sh" 20 "$dir/short"
run status --all
printf '$ orrery logs 2\n'
"$orrery" logs 2

say "The node of job 1 dies; its node timeout is 2 seconds here, and then the job goes on elsewhere"
node=$("$orrery" status --json 1 | sed -n 's/.*"nodes":\["\([a-z]*\)".*/\1/p')
kill_node "${node:-red}"
echo "killed: ${node:-red}"
run status --wait-idle 120s --all
run logs 1

say "Replay: the same code decides again from the log"
run record --state "$ORRERY_STATE" -o "$dir/log.jsonl"
run replay "$dir/log.jsonl"
