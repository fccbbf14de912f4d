#!/bin/sh
# PostgreSQL under pgbench's TPC-B: postgres.sh SCALE TRANSACTIONS [SETTING=VALUE …]
# $AFTER_LOAD runs between filling the tables and the transactions, $AT_END after them.
# Small buffers and short checkpoints compress hours of a large server into a minute.
set -eu
scale=$1 transactions=$2
shift 2

programs=$(ls -d /usr/lib/postgresql/*/bin 2> /dev/null | sort -V | tail -n 1)
data=$mountpoint/postgres
sockets=$(mktemp -d)
clients=4

as_postgres() { # it refuses to run as root
    program=$programs/$1
    shift
    (cd / && setpriv --reuid=postgres --regid=postgres --init-groups \
        env -i LC_ALL=C PATH=/usr/bin:/bin "$program" "$@")
}
stop() {
    as_postgres pg_ctl stop --silent --mode=fast --pgdata="$data" || true
    rm -rf "$sockets"
}

if ! setpriv --reuid=postgres --regid=postgres --init-groups test -x "$mountpoint"; then
    echo "the user postgres may not enter $mountpoint; mount where every user may" >&2
    exit 1
fi
install -d -m 700 -o postgres -g postgres "$data" "$sockets"
as_postgres initdb --pgdata="$data" --auth=trust --locale=C --encoding=UTF8 > /dev/null
{
    printf "%s\n" "shared_buffers = 16MB" "max_wal_size = 64MB" "min_wal_size = 32MB" \
        "checkpoint_timeout = 30s" "autovacuum_naptime = 10s" "listen_addresses = ''" \
        "unix_socket_directories = '$sockets'"
    for setting; do printf "%s\n" "$setting"; done
} >> "$data/postgresql.conf"
trap stop EXIT
trap "exit 130" INT TERM
as_postgres pg_ctl start --silent --wait --pgdata="$data" --log="$data/log"
as_postgres pgbench --host="$sockets" --initialize --quiet --scale="$scale" 2> /dev/null
as_postgres psql --host="$sockets" --quiet --command=CHECKPOINT postgres
eval "${AFTER_LOAD:-}"
as_postgres pgbench --host="$sockets" --no-vacuum --protocol=prepared --random-seed=1 \
    --client=$clients --transactions=$((transactions / clients)) > /dev/null 2>&1
eval "${AT_END:-}"
