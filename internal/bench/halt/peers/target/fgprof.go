//go:build fgprof

package main

import (
	"io"
	"time"

	"github.com/felixge/fgprof"
)

// fgprof samples all goroutines 99 times a second. Each profile, of one minute, is discarded.
func init() {
	profile = func() {
		go func() {
			for {
				stop := fgprof.Start(io.Discard, fgprof.FormatPprof)
				time.Sleep(time.Minute)
				stop()
			}
		}()
	}
}
