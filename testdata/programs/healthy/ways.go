package main

import (
	"context"
	"io"
	"iter"
	"net"
	"os"
	"os/signal"
	"reflect"
	"runtime"
	"sync"
	"syscall"
	"time"
	"unique"
	"weak"

	"golang.org/x/sync/errgroup"
)

// What ways keep, each its own.
var (
	registry  sync.Map
	weakBox   weak.Pointer[box]
	weakCond  = map[string]weak.Pointer[box]{}
	finalized []*owner
	timer     *time.Timer
	pool      sync.Pool
	handle    unique.Handle[chan int]
	pipe      *io.PipeWriter
	conn      net.Conn
	texts     chan string
	pulled    *box
	locks     []sync.RWMutex
	funcs     chan func()
	boxes     chan *box
	last      chan int
	parcel    chan *box
	tasks     = make(chan func(), 3)
	condition = sync.NewCond(new(sync.Mutex))
	limit     chan int
	stop      = make(chan bool)
)

// An owner has a finalizer that wakes a goroutine.
type owner struct{ b *box }

func init() {
	for _, f := range []func(){
		viaMap, viaWeak, viaWeakCond, viaFinalizer, viaLostFinalizer, viaCleanup, viaTimer, viaTimerOnly, viaAfter, viaTicker,
		viaContext, viaAfterFunc, viaErrgroup, viaPool, viaUnique, viaSignal, viaPipe, viaReflect, viaIter, viaSleeper,
		viaSyscall, viaIO, viaBusy, viaArray, viaBuffer, viaSender, viaChain, viaWorkers, viaGlobalCond, viaRotation,
	} {
		way(f)
	}
}

//go:noinline
func viaMap() {
	b := awaited("a map")
	registry.Store("x", b)
	wake(func() { v, _ := registry.Load("x"); v.(*box).c <- 1 })
}

//go:noinline
func viaWeak() {
	b := newBox()
	weakBox = weak.Make(b)
	sleep("a weak pointer", func() { <-b.c; runtime.KeepAlive(b) })
	wake(func() { weakBox.Value().c <- 1 })
}

//go:noinline
func viaWeakCond() {
	b := newBox()
	b.cond = sync.NewCond(&b.mu)
	weakCond["k"] = weak.Make(b)
	sleep("a condition behind a weak pointer", func() {
		b.mu.Lock()
		b.cond.Wait()
		b.mu.Unlock()
		runtime.KeepAlive(b)
	})
	wake(func() { weakCond["k"].Value().cond.Broadcast() })
}

//go:noinline
func viaFinalizer() {
	o := &owner{newBox()}
	runtime.SetFinalizer(o, func(o *owner) { close(o.b.c) })
	b := o.b
	sleep("a finalizer", func() { <-b.c })
	finalized = append(finalized, o)
	wake(func() { finalized = nil; runtime.GC() })
}

//go:noinline
func viaLostFinalizer() {
	o := &owner{newBox()}
	runtime.SetFinalizer(o, func(o *owner) { close(o.b.c) })
	b := o.b
	sleep("the finalizer of an unreachable object", func() { <-b.c })
}

//go:noinline
func viaCleanup() {
	b := newBox()
	runtime.AddCleanup(new(box), func(int) { close(b.c) }, 1)
	sleep("a cleanup", func() { <-b.c })
}

//go:noinline
func viaTimer() {
	c := make(chan int)
	timer = time.AfterFunc(time.Hour, func() { close(c) })
	sleep("a timer", func() { <-c })
	wake(func() { timer.Reset(0) })
}

//go:noinline
func viaTimerOnly() {
	c := make(chan int)
	time.AfterFunc(soon, func() { close(c) })
	sleep("a timer that nobody has", func() { <-c })
}

//go:noinline
func viaAfter() { sleep("time.After", func() { <-time.After(soon) }) }

//go:noinline
func viaTicker() {
	sleep("a ticker", func() { t := time.NewTicker(soon); <-t.C; t.Stop() })
}

//go:noinline
func viaContext() {
	outer, cancel := context.WithTimeout(context.Background(), soon)
	_ = cancel
	ctx, cancel := context.WithCancel(context.WithValue(outer, owner{}, 2))
	_ = cancel
	sleep("a context's deadline", func() { <-ctx.Done() })
}

//go:noinline
func viaAfterFunc() {
	ctx, cancel := context.WithTimeout(context.Background(), soon)
	_ = cancel
	c := make(chan int)
	context.AfterFunc(ctx, func() { close(c) })
	sleep("context.AfterFunc", func() { <-c })
}

//go:noinline
func viaErrgroup() {
	limit = make(chan int)
	g, _ := errgroup.WithContext(context.Background())
	g.SetLimit(1)
	c := limit
	g.Go(func() error { <-c; return nil })
	sleep("an errgroup's limit", func() { g.Go(func() error { return nil }); g.Wait() })
	wake(func() { close(limit) })
}

//go:noinline
func viaPool() {
	b := newBox()
	for range 64 {
		pool.Put(b)
	}
	sleep("a sync.Pool", func() { <-b.c; runtime.KeepAlive(b) })
	wakers = append([]func(){emptyPool}, wakers...) // before a collection empties it
}

func emptyPool() {
	for {
		if v, ok := pool.Get().(*box); ok {
			select {
			case v.c <- 1:
				return
			default:
			}
		}
	}
}

//go:noinline
func viaUnique() {
	c := make(chan int)
	handle = unique.Make(c)
	sleep("a unique handle", func() { <-c })
	wake(func() { handle.Value() <- 1 })
}

//go:noinline
func viaSignal() {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGUSR1)
	sleep("a signal", func() { <-c })
	wake(func() { syscall.Kill(os.Getpid(), syscall.SIGUSR1) })
}

//go:noinline
func viaPipe() {
	r, w := io.Pipe()
	pipe = w
	sleep("io.Pipe", func() { r.Read(make([]byte, 1)) })
	a, b := net.Pipe()
	conn = b
	sleep("net.Pipe", func() { a.Read(make([]byte, 1)) })
	wake(func() { pipe.Close(); conn.Close() })
}

//go:noinline
func viaReflect() {
	a := make(chan int)
	b := make(chan string)
	texts = b
	sleep("reflect.Select", func() {
		reflect.Select([]reflect.SelectCase{
			{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(a)}, {Dir: reflect.SelectRecv, Chan: reflect.ValueOf(b)},
		})
	})
	wake(func() { texts <- "" })
}

//go:noinline
func viaIter() {
	b := newBox()
	next, stop := iter.Pull(func(yield func(int) bool) {
		if yield(1) {
			<-b.c
		}
	})
	next()
	pulled = b
	sleep("iter.Pull", func() { next(); stop() })
	wake(func() { pulled.c <- 1 })
}

//go:noinline
func viaSleeper() {
	b := awaited("the stack of a goroutine that sleeps")
	go func() { time.Sleep(soon); b.c <- 1 }()
}

//go:noinline
func viaSyscall() {
	b := awaited("the stack of a goroutine in a system call")
	go func() { t := syscall.NsecToTimespec(int64(soon)); syscall.Nanosleep(&t, nil); b.c <- 1 }()
}

//go:noinline
func viaIO() {
	b := awaited("the stack of a goroutine that waits for the network")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		close(b.c)
		return
	}
	address := l.Addr().String()
	go func() { l.Accept(); b.c <- 1 }()
	wake(func() { net.Dial("tcp", address) })
}

//go:noinline
func viaBusy() {
	b := awaited("the registers of a goroutine that runs")
	go func() {
		c := b.c
		for {
			select {
			case <-stop:
				c <- 1
				return
			default:
				time.Sleep(100 * time.Microsecond)
			}
		}
	}()
	wake(func() { close(stop) })
}

//go:noinline
func viaArray() {
	locks = make([]sync.RWMutex, 1000)
	locks[777].Lock()
	sleep("a lock in an array", func() { locks[777].RLock() })
	wake(func() { locks[777].Unlock() })
}

//go:noinline
func viaBuffer() {
	b := newBox()
	funcs = make(chan func(), 10)
	funcs <- func() { b.c <- 1 }
	sleep("a closure in a channel's buffer", func() { <-b.c })
	wake(func() { (<-funcs)() })
}

//go:noinline
func viaSender() {
	b := newBox()
	boxes = make(chan *box)
	c := boxes
	go func() { c <- b }()
	sleep("the value of a sender that waits", func() { <-b.c })
	wake(func() { (<-boxes).c <- 1 })
}

// Each waits for the next one, and a variable has the last.
//
//go:noinline
func viaChain() {
	last = make(chan int)
	at := last
	for range 50 {
		next, before := make(chan int), at
		waiting.Add(1)
		go func() { <-before; close(next); waiting.Done() }()
		at = next
	}
	var g sync.WaitGroup
	g.Add(1)
	go func() { <-at; g.Done() }()
	sleep("a group at the end of a chain", func() { g.Wait() })
	wake(func() { close(last) })
}

//go:noinline
func viaWorkers() {
	for range 8 {
		waiting.Add(1)
		go func() {
			defer waiting.Done()
			for f := range tasks {
				f()
			}
		}()
	}
	wake(func() { close(tasks) })
}

//go:noinline
func viaGlobalCond() {
	sleep("a condition in a variable", func() {
		condition.L.Lock()
		condition.Wait()
		condition.L.Unlock()
	})
	wake(func() { condition.Broadcast() })
}

// The only pointer moves all the time, from one goroutine to another and back.
//
//go:noinline
func viaRotation() {
	b := awaited("a pointer that moves")
	parcel = make(chan *box)
	for range 2 {
		go func() {
			for one := range parcel {
				time.Sleep(50 * time.Microsecond)
				parcel <- one
			}
		}()
	}
	parcel <- b
	wake(func() { (<-parcel).c <- 1 })
}
