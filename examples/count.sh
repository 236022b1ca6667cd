#!/bin/sh
# count.sh N FILE: counts to N, ten a second, and keeps its count in FILE. An ordinary program without the
# job protocol: it ends at SIGTERM, and continues from FILE when it is started again.
n=$1
file=$2
count=$(cat "$file" 2>/dev/null || echo 0)
echo "from $count to $n on $(hostname), GPU $CUDA_VISIBLE_DEVICES"
trap 'echo "asked to stop at $count"; exit 143' TERM
while [ "$count" -lt "$n" ]; do
  sleep 0.1
  count=$((count + 1))
  echo "$count" >"$file.new" && mv "$file.new" "$file"
done
echo "done at $count"
