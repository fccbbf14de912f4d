#!/bin/sh
# The step of action.yml: runs a command on a virtual SSD, and writes the summary of the job.
# The exit status is that of `writeamp serve`: 1 if the command failed, 3 if it broke a budget.
set -eu
matchers=$(dirname "$0")/action-problems.json
folder=$(mktemp -d "${RUNNER_TEMP:-/tmp}/writeamp-XXXXXX")
chmod 755 "$folder" # a database may run as a user of its own

as_root() { # with this PATH, which sudo would replace
    if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo --preserve-env env "PATH=$PATH" "$@"; fi
}
has() {
    for program; do command -v "$program" > /dev/null || return; done
}

if [ -n "$WA_REQUIREMENT" ] || ! has writeamp; then
    python3 -m venv "$folder/env"
    "$folder/env/bin/pip" install --quiet "${WA_REQUIREMENT:-writeamp}"
    PATH=$folder/env/bin:$PATH
fi
case $WA_FILE_SYSTEM in
none)
    programs=nbdkit
    ;;
xfs | ext4 | btrfs)
    programs="nbdkit nbdfuse fusermount3 mkfs.$WA_FILE_SYSTEM"
    ;;
*)
    echo "::error title=writeamp::file-system is $WA_FILE_SYSTEM; valid are xfs, ext4, btrfs and none"
    exit 2
    ;;
esac
# shellcheck disable=SC2086 # words
if ! has $programs; then
    as_root apt-get -qq update > /dev/null
    as_root apt-get -qq install --yes --no-install-recommends \
        nbdkit libnbd-bin fuse3 e2fsprogs xfsprogs btrfs-progs > /dev/null
fi

set -f # an asterisk in a limit names no file
# shellcheck disable=SC2086 # words
set -- serve --device "$WA_DEVICE" --size "$WA_SIZE" $WA_LIMITS --run "$WA_COMMAND" \
    --report "$folder/result.html"
echo "::add-matcher::$matchers"
status=0
if [ "$WA_FILE_SYSTEM" = none ]; then
    writeamp "$@" || status=$?
else
    as_root "$(command -v writeamp)" "$@" --mount "$folder/drive" --fs "$WA_FILE_SYSTEM" || status=$?
fi
echo "::remove-matcher owner=writeamp::"
echo "::remove-matcher owner=writeamp-warning::"

# Without a page, the command was refused, and printed the reason.
if [ -e "$folder/result.html" ]; then
    writeamp report "$folder/result.html" >> "$GITHUB_STEP_SUMMARY"
    writeamp report "$folder/result.html" --json > "$folder/result.json"
    printf '%s\n' "page=$folder/result.html" "result=$folder/result.json" >> "$GITHUB_OUTPUT"
    python3 - "$folder/result.json" << 'END'
import json
import sys

for budget in json.load(open(sys.argv[1])).get("budgets", ()):
    if not budget["holds"]:
        print(f"::error title=writeamp::{budget['sentence']}")
END
fi
exit $status
