//go:build !(linux && (amd64 || arm64))

package main

import (
	"errors"
	"io"
	"time"
)

func zoo(io.Writer, int, time.Duration, bool, []string) (bool, error) {
	return false, errors.New("zoo: programs can be sampled without a debugger only on Linux, on amd64 and arm64")
}
