#!/bin/sh
# Stands for the go command: gives the programs that were built elsewhere.
# go build -o FILE ./testdata/programs/NAME; $with is another version of Go
[ "$1 $2 $#" = "build -o 4" ] && exec cp "/bin/$with${4##*/}" "$3"
echo "no Go here: go $*" >&2
exit 1
