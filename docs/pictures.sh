#!/usr/bin/env bash
# Makes the pictures of the documentation from real screens: records the demo, and opens it in the Analyzer in tmux.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

go build -o "$work/cpprof" ./cmd/cpprof # go run would link without the names of the locks
go build -o "$work/picture" ./internal/picture
(cd "$work" && ./cpprof demo --text >/dev/null)

# picture FILE LINES TITLE KEY...: opens the recording, types the keys, and draws the screen.
picture() {
	local file=$1 lines=$2 title=$3 tmux="tmux -S $work/$1.socket"
	shift 3
	$tmux new-session -d -x 90 -y "$lines" "cd $work && TERM=xterm-256color COLORTERM=truecolor ./cpprof view demo.cpprof --fresh"
	sleep 2
	for key in x "$@"; do # x closes the findings, which come first
		$tmux send-keys "$key"
		sleep 0.5
	done
	$tmux capture-pane -p -e -N | "$work/picture" "$title" >"docs/$file"
	$tmux send-keys q
	sleep 1
}

picture summary.svg 24 "The Summary of the Analyzer: the recording as a strip of time, and its thread classes"
picture thread-view.svg 35 "The Thread View of a class of workers: they wait for a lock that a flusher holds while it writes" Enter Enter Enter Enter Enter Up
