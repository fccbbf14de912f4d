#!/bin/sh
# SQLite: a table of some 200 MB, then single upserts into it: sqlite.sh JOURNAL BATCH TRANSACTIONS
set -eu
upserts="python3 $(dirname "$0")/../sqlite_upserts.py $mountpoint/sqlite.db --rows 800000"

$upserts --journal wal --batch 10000 --transactions 150
$upserts --journal "$1" --batch "$2" --transactions "$3" --seed 2
