#!/bin/sh
# reference_data.sh SHARED: passes where SHARED holds all data that tests read. Otherwise names what is
# missing and skips (77), or fails in CI.
missing=
for each in reference/muri.csv reference/elasticflow.csv reference/synergy.csv data/cm-dare \
  data/elasticflow data/faults data/gavel data/muri data/openb data/pollux data/spot \
  data/stragglers data/sync-switch data/synergy data/tiresias data/transient; do
  [ -e "$1/$each" ] || missing="$missing $each"
done
[ -n "$missing" ] || exit 0
echo "$1 lacks what tests read; they skip:$missing"
[ -z "${CI:-}" ] || exit 1
exit 77
