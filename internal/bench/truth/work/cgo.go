//go:build cgo && linux

package main

/*
#include <time.h>
#include <unistd.h>
static volatile unsigned long x;
static void c_spin(long us) {
	struct timespec a, b;
	clock_gettime(CLOCK_MONOTONIC, &a);
	do {
		for (int i = 0; i < 1000; i++) x += i;
		clock_gettime(CLOCK_MONOTONIC, &b);
	} while ((b.tv_sec - a.tv_sec) * 1000000L + (b.tv_nsec - a.tv_nsec) / 1000 < us);
}
static void c_sleep(long us) { usleep(us); }
extern void goBack(int);
static void c_callback(int us) { goBack(us); }
*/
import "C"

import "time"

func init() { workloads["cgo"] = cgoWork }

// C code that computes, sleeps, and calls Go.
func cgoWork() {
	go cgoSpinner()
	go cgoSleeper()
	go cgoMixed()
	go cgoCallback()
}

func cgoSpinner() {
	for {
		C.c_spin(2000)
		time.Sleep(2 * time.Millisecond)
	}
}

func cgoSleeper() {
	for {
		C.c_sleep(3000)
		spinFor(200 * time.Microsecond)
	}
}

func cgoMixed() {
	for {
		C.c_spin(500)
		C.c_sleep(1000)
		spinFor(500 * time.Microsecond)
	}
}

func cgoCallback() {
	for {
		C.c_callback(300)
		time.Sleep(time.Millisecond)
	}
}

//export goBack
func goBack(us C.int) {
	spinFor(time.Duration(us) * time.Microsecond)
	time.Sleep(500 * time.Microsecond)
}
