#!/bin/sh
# RocksDB: filled at random, then overwritten at random: rocksdb.sh level|universal KEYS OVERWRITES
# Small memory tables and levels make the tree as deep as that of a large database.
set -eu
case $1 in level) style=0 ;; universal) style=1 ;; *) echo "unknown style $1" >&2; exit 2 ;; esac

# Debian's package rocksdb-tools has the program.
db_bench --db="$mountpoint/rocksdb" --benchmarks=fillrandom,overwrite,waitforcompaction \
    --num="$2" --writes="$3" --value_size=400 --compression_type=none --seed=1 \
    --compaction_style="$style" --write_buffer_size=4194304 --target_file_size_base=4194304 \
    --max_bytes_for_level_base=16777216 --max_background_jobs=2 > /dev/null 2>&1
