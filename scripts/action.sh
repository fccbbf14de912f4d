#!/bin/sh
# The step of action.yml: runs a command on a virtual SSD, and writes the summary of the job.
# The exit status is that of `writeamp serve`: 1 if the command failed, 3 if it broke a budget.
set -eu
matchers=$(dirname "$0")/action-problems.json
folder=$(mktemp -d "${RUNNER_TEMP:-/tmp}/writeamp-XXXXXX")
chmod 755 "$folder" # a database may run as a user of its own
root=
[ "$(id -u)" -eq 0 ] || root="sudo --preserve-env"

if ! command -v writeamp > /dev/null; then
    python3 -m venv "$folder/env"
    "$folder/env/bin/pip" install --quiet "$WA_REQUIREMENT"
    PATH=$folder/env/bin:$PATH
fi
mount=
if [ "$WA_FILE_SYSTEM" = none ]; then
    root=
else
    mount="--mount $folder/drive --fs $WA_FILE_SYSTEM"
    if ! command -v nbdkit nbdfuse fusermount3 "mkfs.$WA_FILE_SYSTEM" > /dev/null; then
        # shellcheck disable=SC2086 # words
        { $root apt-get -qq update && $root apt-get -qq install --yes --no-install-recommends \
            nbdkit libnbd-bin fuse3 e2fsprogs xfsprogs btrfs-progs; } > /dev/null
    fi
fi

echo "::add-matcher::$matchers"
status=0
set -f # an asterisk in a limit names no file
# shellcheck disable=SC2086 # words
$root "$(command -v writeamp)" serve --device "$WA_DEVICE" --size "$WA_SIZE" $mount $WA_LIMITS \
    --run "$WA_COMMAND" --report "$folder/result.html" || status=$?
echo "::remove-matcher owner=writeamp::"
echo "::remove-matcher owner=writeamp-warning::"

# Without a page, the command was refused, and has said why.
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
