package main

/*
#include <stdlib.h>
static void **kept;
static void keep(int i, void *p) { if (!kept) kept = calloc(64, sizeof *kept); kept[i] = p; }
static void *get(int i) { return kept[i]; }
*/
import "C"

import (
	"math/rand/v2"
	"runtime"
	"time"
	"unsafe"
)

func init() { twins["pinned"] = pinned }

// pinned keeps parcels in memory of C only. They are pinned there.
func pinned() {
	for i := range 64 {
		put(i)
	}
	again(1, 20*time.Millisecond, func() {
		i := rand.IntN(64)
		(*parcel)(C.get(C.int(i))).c <- 1
		put(i)
	})
}

//go:noinline
func put(i int) {
	p, pinner := &parcel{c: make(chan int)}, new(runtime.Pinner)
	pinner.Pin(p)
	pinner.Pin(*(*unsafe.Pointer)(unsafe.Pointer(&p.c)))
	C.keep(C.int(i), unsafe.Pointer(p))
	go func() {
		<-p.c
		pinner.Unpin()
	}()
}
