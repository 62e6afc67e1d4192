package main

import (
	"flag"
	"os"
	"path/filepath"
	"time"

	"k8s.io/klog/v2"
)

func main() {
	klog.InitFlags(nil)
	flag.Set("logtostderr", "false")
	flag.Set("log_file", filepath.Join(os.Getenv("WORK_DIR"), "work.log"))
	flag.Parse()
	go flusher()
	work(16, time.Millisecond, handle)
}

func flusher() {
	for {
		time.Sleep(time.Millisecond)
		klog.Flush()
	}
}

func handle() { klog.Info("a request was answered") }
