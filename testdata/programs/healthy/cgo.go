package main

/*
#include <stdint.h>
#include <stdlib.h>
static void **kept;
static void keep(void *p) { kept = malloc(64); kept[3] = p; }
static void *get(void) { return kept[3]; }
static uintptr_t handle;
static void keep_handle(uintptr_t h) { handle = h; }
static uintptr_t get_handle(void) { return handle; }
*/
import "C"

import (
	"runtime"
	"runtime/cgo"
	"unsafe"
)

func init() {
	way(viaPinned)
	way(viaHandle)
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
