package main

import (
	"fmt"
	"net/http"
	"os"
	"strconv"
)

func init() { twins["large"] = large }

// A page is a part of a large heap.
type page struct {
	next, other *page
	text        [12]uint64
}

// pages are the roots of the heap.
var pages [1024]*page

// large is a server whose heap has as many megabytes as the next argument says; then comes its
// address. One goroutine is stuck: this is no healthy twin.
func large() {
	size, _ := strconv.Atoi(os.Args[2])
	for i := range size << 20 / 112 {
		at := &pages[i%len(pages)]
		*at = &page{next: *at, other: pages[(i*7)%len(pages)]}
	}
	go func() { <-make(chan int) }()
	go http.ListenAndServe(os.Args[3], http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := uint64(0)
		for p := pages[len(r.RemoteAddr)]; p != nil; p = p.next {
			n += p.text[3]
		}
		fmt.Fprintln(w, n)
	}))
}
