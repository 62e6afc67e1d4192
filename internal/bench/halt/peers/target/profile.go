package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"time"

	"github.com/felixge/fgprof"
)

// profiles are the ways in which the program can observe itself.
// What they find is discarded, each minute.
var profiles = map[string]func() error{
	"fgprof": func() error { // 99 times a second
		stop := fgprof.Start(io.Discard, fgprof.FormatPprof)
		time.Sleep(time.Minute)
		return stop()
	},
	"CPU": func() error {
		defer pprof.StopCPUProfile()
		err := pprof.StartCPUProfile(io.Discard)
		time.Sleep(time.Minute)
		return err
	},
	"block and mutex": func() error {
		runtime.SetBlockProfileRate(10_000) // as often advised: all waits of 10 us
		runtime.SetMutexProfileFraction(1)
		select {}
	},
	"dumps": func() error {
		time.Sleep(time.Second)
		return pprof.Lookup("goroutine").WriteTo(io.Discard, 2)
	},
	"flight": func() error {
		if err := trace.NewFlightRecorder(trace.FlightRecorderConfig{}).Start(); err != nil {
			return err
		}
		select {}
	},
}

// observe does so without end.
func observe(profile func() error) {
	for {
		if err := profile(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}
