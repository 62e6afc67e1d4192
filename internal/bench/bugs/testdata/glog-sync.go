package main

import (
	"flag"
	"os"
	"time"

	"github.com/golang/glog"
)

func main() {
	flag.Set("log_dir", os.Getenv("WORK_DIR"))
	flag.Parse()
	go flusher()
	work(16, time.Millisecond, handle)
}

func flusher() {
	for {
		time.Sleep(time.Millisecond)
		glog.Flush()
	}
}

func handle() { glog.Info("a request was answered") }
