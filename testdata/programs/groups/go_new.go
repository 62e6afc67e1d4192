//go:build go1.25

package main

import "sync"

func startGo() {
	wg := new(sync.WaitGroup)
	wg.Go(work)
	wg.Go(func() { work() })
	go waitGo(wg)
}
