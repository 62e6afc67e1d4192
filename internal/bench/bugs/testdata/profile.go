package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"reflect"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"slices"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/felixge/fgprof"
)

var pieces, spent atomic.Int64 // what is done, and how long it took

// work runs goroutines that do pieces of work, with a pause between two.
func work(goroutines int, pause time.Duration, piece func()) {
	workers(pause, slices.Repeat([]func(){piece}, goroutines)...)
}

// workers runs a goroutine for each kind of piece.
func workers(pause time.Duration, kinds ...func()) {
	runtime.GOMAXPROCS(2)
	for _, piece := range kinds {
		go requests(pause, piece)
	}
	fmt.Println("ready")
	observe()
}

// crew runs goroutines that have a kind of piece each, by their numbers.
func crew(goroutines int, pause time.Duration, kind func(n int) func()) {
	kinds := make([]func(), goroutines)
	for n := range kinds {
		kinds[n] = kind(n)
	}
	workers(pause, kinds...)
}

// observe takes profiles if PROFILES names a folder. Otherwise it waits for
// SIGTERM, and prints the pieces, the time that they took, and its own.
func observe() {
	if dir := os.Getenv("PROFILES"); dir != "" {
		profiles(dir)
		return
	}
	began, end := time.Now(), make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM)
	<-end
	fmt.Println(pieces.Load(), spent.Load(), int64(time.Since(began)))
}

func requests(pause time.Duration, piece func()) {
	for {
		time.Sleep(pause)
		began := time.Now()
		piece()
		spent.Add(int64(time.Since(began)))
		pieces.Add(1)
	}
}

// profiles takes one profile after the other, each with what it costs alone.
func profiles(dir string) {
	create := func(name string) *os.File {
		f, err := os.Create(filepath.Join(dir, name))
		check(err)
		return f
	}
	seconds, err := strconv.ParseFloat(os.Getenv("SECONDS"), 64)
	check(err)
	pause := func() { time.Sleep(time.Duration(seconds * float64(time.Second))) }

	check(pprof.StartCPUProfile(create("CPU")))
	pause()
	pprof.StopCPUProfile()

	runtime.SetBlockProfileRate(10_000) // as often advised: all waits of 10 us
	runtime.SetMutexProfileFraction(1)
	pause()
	check(pprof.Lookup("block").WriteTo(create("block"), 0))
	check(pprof.Lookup("mutex").WriteTo(create("mutex"), 0))
	runtime.SetBlockProfileRate(0)
	runtime.SetMutexProfileFraction(0)

	stop := fgprof.Start(create("fgprof"), fgprof.FormatPprof)
	pause()
	check(stop())
	check(pprof.Lookup("goroutine").WriteTo(create("dump"), 0)) // what a debugger shows, too

	flight := trace.NewFlightRecorder(trace.FlightRecorderConfig{MinAge: time.Minute, MaxBytes: 64 << 20})
	check(flight.Start())
	pause()
	_, err = flight.WriteTo(create("flight.trace"))
	check(err)
	flight.Stop()
}

// elsewhere serves in another process, as a service does that a program asks,
// and returns its address.
func elsewhere(serve func(net.Listener)) string {
	if os.Getenv("SERVE") != "" {
		l, err := net.FileListener(os.NewFile(3, "listener"))
		check(err)
		go serve(l)
		io.Copy(io.Discard, os.Stdin) // until the other process ends
		os.Exit(0)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	f, err := l.(*net.TCPListener).File()
	check(err)
	other := exec.Command("/proc/self/exe")
	other.Env = append(os.Environ(), "SERVE=yes")
	other.ExtraFiles = []*os.File{f}
	alive, err = other.StdinPipe()
	check(err)
	check(other.Start())
	l.Close()
	return l.Addr().String()
}

// website serves HTTP in another process.
func website(answer http.HandlerFunc) (address string) {
	return elsewhere(func(l net.Listener) { http.Serve(l, answer) })
}

// accept serves each connection.
func accept(serve func(net.Conn)) func(net.Listener) {
	return func(l net.Listener) {
		for {
			c, err := l.Accept()
			check(err)
			go serve(c)
		}
	}
}

// each calls a function with each text that comes from a connection, and is short.
func each(c net.Conn, answer func(text []byte)) {
	text := make([]byte, 1<<10)
	for {
		n, err := c.Read(text)
		if err != nil {
			return
		}
		answer(text[:n])
	}
}

// set changes a setting that only the version with the fix may have.
func set(config any, name string, value int64) {
	if field := reflect.ValueOf(config).Elem().FieldByName(name); field.IsValid() {
		field.SetInt(value)
	}
}

// alive is open until this process ends.
var alive io.WriteCloser

func check(err error) {
	if err != nil {
		panic(err)
	}
}
