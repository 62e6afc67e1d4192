package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"time"
)

// A queue is a list. Its push walks the whole list, or goes to the end at once.
type queue struct {
	first, last *entry
	n           int
}

type entry struct {
	value int
	next  *entry
}

const backlog = 3000

func quadraticQueue(healthy bool) {
	go intake(healthy)
}

func intake(healthy bool) {
	q := new(queue)
	for n := 0; ; n++ {
		if healthy {
			time.Sleep(pace)
			q.append(n)
		} else {
			q.push(n)
		}
		if q.n > backlog {
			q.first = q.first.next
			q.n--
		}
	}
}

//go:noinline
func (q *queue) push(value int) {
	at := &q.first
	for *at != nil {
		at = &(*at).next
	}
	*at = &entry{value: value}
	q.n++
}

//go:noinline
func (q *queue) append(value int) {
	e := &entry{value: value}
	if q.last == nil {
		q.first = e
	} else {
		q.last.next = e
	}
	q.last = e
	q.n++
}

func encodeInVain(healthy bool) { go publisher(healthy) }

type feed struct {
	buf  []byte
	sent int
}

func publisher(healthy bool) {
	f := new(feed)
	for {
		if healthy {
			time.Sleep(pace)
		} else {
			f.trace("sending")
		}
		f.send("an order")
	}
}

//go:noinline
func (f *feed) send(order string) { f.sent += len(f.encode(order)) }

//go:noinline
func (f *feed) trace(what string) { f.encode(what + what + what + what) }

//go:noinline
func (f *feed) encode(text string) []byte {
	f.buf = f.buf[:0]
	for _, c := range []byte(text) {
		crc := uint32(c)
		for range 200 {
			crc = crc>>1 ^ 0xedb88320&-(crc&1)
		}
		f.buf = strconv.AppendUint(f.buf, uint64(crc), 16)
	}
	return f.buf
}

func tooManyRunnable(healthy bool) {
	n := 12
	if healthy {
		n = 1
	}
	for range n {
		go burner(healthy)
	}
}

func burner(healthy bool) {
	for {
		if healthy {
			time.Sleep(pace)
		}
		sink += spin(10)
	}
}

// A record is small, and has pointers.
type record struct {
	name *string
	next *record
	text []byte
}

func allocate(healthy bool) {
	for range 2 {
		go parser(healthy)
	}
}

func parser(healthy bool) {
	var kept *record
	for {
		if healthy {
			time.Sleep(pace)
		}
		kept = parse(kept)
	}
}

//go:noinline
func parse(kept *record) *record {
	for range 100 {
		name := strconv.Itoa(1_000_000 + len(kept.fields()))
		kept = &record{name: &name, text: make([]byte, 200)}
	}
	return kept
}

func (r *record) fields() []byte {
	if r == nil {
		return nil
	}
	return r.text
}

var live []*record

// assist keeps many pointers alive, and collects so often that those who allocate have to help. The twin has a small cache.
func assist(healthy bool) {
	size := 400_000
	if healthy {
		size = 4000
	}
	debug.SetGCPercent(5)
	for i := range size {
		name := strconv.Itoa(i)
		live = append(live, &record{name: &name})
	}
	for range 4 {
		go cacher(healthy)
	}
}

func cacher(healthy bool) {
	for i := 0; ; i++ {
		if healthy {
			time.Sleep(pace)
			continue
		}
		replace(i)
	}
}

//go:noinline
func replace(i int) {
	name := "a"
	live[i%len(live)] = &record{name: &name, next: &record{}}
}

func callKernel(healthy bool) { go logger(healthy) }

func logger(healthy bool) {
	null := must(os.OpenFile(os.DevNull, os.O_WRONLY, 0))
	w := bufio.NewWriter(null)
	line := []byte("a line\n")
	for {
		if healthy {
			time.Sleep(pace)
			w.Write(line)
		} else {
			logLine(null, line)
		}
	}
}

//go:noinline
func logLine(w *os.File, line []byte) { w.Write(line) }

// coldPhase computes for a while after it has read a line, and hardly does anything before and after. It prints a line when it has
// computed. The twin does not compute
// at all.
func coldPhase(healthy bool) {
	lines := make(chan struct{}, 1)
	go func() {
		bufio.NewReader(os.Stdin).ReadString('\n')
		lines <- struct{}{}
	}()
	go service(lines, healthy)
}

func service(lines <-chan struct{}, healthy bool) {
	for {
		time.Sleep(pace)
		select {
		case <-lines:
			if !healthy {
				warmUp()
				fmt.Println("warm")
			}
		default:
			sink++
		}
	}
}

// warmUp takes about 0.7 s of CPU time.
//
//go:noinline
func warmUp() {
	for range 560 {
		sink += spin(3000)
	}
}
