#!/bin/sh
# git: clones of a made-up repository, new commits in them, and gc: git.sh FILES COMMITS CLONES
set -eu
files=$1 commits=$2 clones=$3
source=$(mktemp -d)
trap 'rm -rf "$source"' EXIT
here=$(dirname "$0")

git init --quiet --bare "$source"
python3 "$here/git_history.py" "$files" "$commits" | git -C "$source" fast-import --quiet
for clone in $(seq "$clones"); do
    target=$mountpoint/clone-$clone
    git clone --quiet --no-local "$source" "$target"
    for commit in $(seq 20); do
        echo "$clone $commit" >> "$target/file-$commit"
        git -C "$target" -c user.name=a -c user.email=a@b commit --quiet --all --message="$commit"
    done
    git -C "$target" gc --quiet
done
for clone in $(seq 2 2 "$clones"); do
    rm -rf "$mountpoint/clone-$clone"
done
