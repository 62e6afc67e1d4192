package main

import (
	"reflect"
	"syscall"
	"time"
)

// The only pointer is on the stack of a goroutine that sleeps: in a place which the compiler
// describes in a way of its own.

func init() {
	for _, w := range []struct {
		name string
		doze func(b *box)
	}{
		{"a variable whose address was taken", dozeAddressed},
		{"a variable behind two others", dozeChained},
		{"a deferred closure", dozeDeferred},
		{"deferred closures of a loop", dozeDeferredInLoop},
		{"a deferred closure behind those of a loop", dozeDeferredBoth},
		{"a deferred closure in a record on the stack", dozeDeferredInRecord},
		{"a deferred call while it panics", dozePanicking},
		{"a deferred call after a fault", dozeFault},
		{"an argument on the stack", func(b *box) { dozeArguments(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, nil, b) }},
		{"an argument of a call by reflection", dozeReflected},
		{"an argument of a function made by reflection", dozeMade},
		{"the receiver of a method value", dozeMethod},
		{"an array", dozeArray},
		{"an interface", dozeInterface},
		{"a system call's caller", dozeSyscall},
	} {
		way(func() { viaDozer(w.name, w.doze) })
	}
}

//go:noinline
func viaDozer(name string, doze func(b *box)) {
	b := awaited(name)
	go doze(b)
}

// A link leads to another one, and to a box.
type link struct {
	next *link
	b    *box
}

//go:noinline
func fillLink(l *link, next *link, b *box) { l.next, l.b = next, b }

//go:noinline
func dozeAddressed(b *box) {
	var l link
	fillLink(&l, nil, b)
	time.Sleep(soon)
	l.b.c <- 1
}

//go:noinline
func dozeChained(b *box) {
	var x, y, z link
	fillLink(&x, &y, nil)
	fillLink(&y, &z, nil)
	fillLink(&z, nil, b)
	first := &x
	time.Sleep(soon)
	first.next.next.b.c <- 1
}

//go:noinline
func dozeDeferred(b *box) {
	defer func() { b.c <- 1 }()
	time.Sleep(soon)
}

//go:noinline
func dozeDeferredInLoop(b *box) {
	for i := range 3 {
		if i == 1 {
			defer func() { b.c <- 1 }()
		} else {
			defer func() { _ = i }()
		}
	}
	time.Sleep(soon)
}

func nothing() {}

// More than eight deferred calls are on a list, in records on the stack. A loop's records are on the heap.
//
//go:noinline
func dozeDeferredBoth(b *box) {
	defer nothing()
	defer nothing()
	defer nothing()
	defer nothing()
	defer nothing()
	defer nothing()
	defer nothing()
	defer nothing()
	defer func() { b.c <- 1 }()
	func() {
		for range 3 {
			defer func() {}()
		}
		time.Sleep(soon)
	}()
}

// More than eight deferred calls are on a list, in records on the stack. No stack map has these records.
//
//go:noinline
func dozeDeferredInRecord(b *box) {
	defer nothing()
	defer nothing()
	defer nothing()
	defer nothing()
	defer nothing()
	defer nothing()
	defer nothing()
	defer nothing()
	defer func() { b.c <- 1 }()
	time.Sleep(soon)
}

//go:noinline
func dozePanicking(b *box) {
	defer func() {
		recover()
		b.c <- 1
	}()
	defer time.Sleep(soon)
	panic("expected")
}

//go:noinline
func dozeFault(b *box) {
	defer func() { recover() }()
	var none *link
	defer func() {
		time.Sleep(soon)
		b.c <- 1
	}()
	none.next = nil
}

//go:noinline
func dozeArguments(_, _, _, _, _, _, _, _, _, _ int, none, b *box) {
	time.Sleep(soon)
	if none == nil {
		b.c <- 1
	}
}

//go:noinline
func dozeReflected(b *box) {
	f := reflect.ValueOf(dozeArguments)
	var in []reflect.Value
	for range 10 {
		in = append(in, reflect.ValueOf(1))
	}
	f.Call(append(in, reflect.Zero(reflect.TypeFor[*box]()), reflect.ValueOf(b)))
}

//go:noinline
func dozeMade(b *box) {
	made := reflect.MakeFunc(reflect.TypeOf(func(*box, string) {}), func(in []reflect.Value) []reflect.Value {
		time.Sleep(soon)
		return nil
	}).Interface().(func(*box, string))
	made(b, "")
	b.c <- 1
}

func (b *box) doze() {
	time.Sleep(soon)
	b.c <- 1
}

//go:noinline
func dozeMethod(b *box) {
	f := reflect.ValueOf(b.doze).Interface().(func())
	b = nil
	f()
}

//go:noinline
func dozeArray(b *box) {
	var all [40]*box
	all[len(b.rest)*7] = b
	b = nil
	time.Sleep(soon)
	for i := range all {
		if all[i] != nil {
			all[i].c <- 1
		}
	}
}

//go:noinline
func dozeInterface(b *box) {
	var any interface{ doze() } = b
	b = nil
	time.Sleep(time.Millisecond)
	any.doze()
}

//go:noinline
func dozeSyscall(b *box) {
	t := syscall.NsecToTimespec(int64(soon))
	all := []*box{nil, b}
	b = nil
	syscall.Nanosleep(&t, nil)
	all[1].c <- 1
}
