#!/bin/sh
# train_demo.sh ORRERY_TRAIN: the same training twice, in six processes, while one of four workers has
# a quarter of its CPU: first all workers wait for it (ssgd), then STAR selects the mode.
set -eu
train=$(realpath "$1")
scripts=$(realpath "$(dirname "$0")/../data/stragglers")

for mode in ssgd star; do
  set -- run --workers 4 --mode $mode --model mlp --data gaussian --batch 512 --rate 0.1 \
    --target 0.82 --time-limit 30s --cores 0.08 --stragglers one-slow.txt --quiet
  printf '$ orrery-train %s\n' "$*"
  (cd "$scripts" && "$train" "$@")
done
