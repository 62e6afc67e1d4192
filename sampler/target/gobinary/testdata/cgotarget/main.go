// Cgotarget is sampled by tests while it crosses between Go and C both ways.
package main

/*
#include <time.h>
#include <unistd.h>

extern void goCallback(int);

static void work(int n) {
	volatile int i;
	for (i = 0; i < n; i++) {
	}
}

static void doze(void) { usleep(200); }

static void callBack(int n) {
	work(100);
	goCallback(n);
	work(100);
}

static long now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_nsec;
}
*/
import "C"

import (
	"bufio"
	"fmt"
	"os"
	"time"
)

var never = make(chan int)

//export goCallback
func goCallback(n C.int) {
	if n < 0 {
		<-never
	}
	if n > 0 {
		C.callBack(n - 1)
	}
}

func main() {
	go C.callBack(-1)
	for _, f := range []func(){
		func() { C.work(100) },
		func() { C.callBack(2) },
		func() { C.doze() },
		func() { C.now() },
		func() { time.Now() },
	} {
		go func(f func()) {
			for {
				f()
			}
		}(f)
	}
	fmt.Println("ready")
	bufio.NewReader(os.Stdin).ReadString('\n')
}
