package main

/*
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
static void **kept;
static void keep(void *p) { kept = malloc(64); kept[3] = p; }
static void *get(void) { return kept[3]; }
static uintptr_t handle;
static void keep_handle(uintptr_t h) { handle = h; }
static uintptr_t get_handle(void) { return handle; }
static void doze(unsigned int us) { usleep(us); }
void goDoze(void);
static void dozeInGo(void) { goDoze(); }
*/
import "C"

import (
	"runtime"
	"runtime/cgo"
	"time"
	"unsafe"
)

func init() {
	way(viaPinned)
	way(viaHandle)
	way(func() { viaDozer("the caller of a C function", dozeInC) })
	way(func() { viaDozer("the caller of a C function that calls Go", dozeThroughC) })
}

//go:noinline
func dozeInC(b *box) {
	C.doze(C.uint(soon.Microseconds()))
	b.c <- 1
}

//export goDoze
func goDoze() { time.Sleep(soon) }

//go:noinline
func dozeThroughC(b *box) {
	C.dozeInGo()
	b.c <- 1
}

//go:noinline
func viaPinned() {
	b := newBox()
	sleep("a pinned pointer in memory of C", func() {
		var p runtime.Pinner
		p.Pin(b)
		p.Pin(*(*unsafe.Pointer)(unsafe.Pointer(&b.c)))
		C.keep(unsafe.Pointer(b))
		<-b.c
		p.Unpin()
	})
	wake(func() { (*box)(C.get()).c <- 1 })
}

//go:noinline
func viaHandle() {
	b := newBox()
	C.keep_handle(C.uintptr_t(cgo.NewHandle(b)))
	sleep("a handle for C", func() { <-b.c })
	wake(func() { cgo.Handle(C.get_handle()).Value().(*box).c <- 1 })
}
