//go:build linux

package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"github.com/cpprof/cpprof/internal/bench/tool"
)

// An observation is one run of a program, which is recorded and traced.
type observation struct {
	recording string // path
	trace     string // path; empty if it is not traced
	cpu       cpuClock
}

// The trace of a server is to begin before the recording and to
// end after it.
const (
	before = 500 * time.Millisecond
	after  = 4 * time.Second // it takes some seconds to attach on a busy machine
)

// record records a process, and reads its CPU clock meanwhile.
func (b *bench) record(o *observation, pid int) error {
	stop := o.cpu.follow(pid)
	defer stop()
	args := append([]string{"record", "-f", "-o", o.recording, "-p", strconv.Itoa(pid), "-d", b.length.String()}, b.flags...)
	cmd := exec.Command(b.cpprof, args...)
	recorded, err := tool.BeginBy(b.start, cmd)
	if err != nil {
		return err
	}
	return recorded()
}

// workload runs and observes a workload.
func (b *bench) workload(o *observation, name string) error {
	cmd := exec.Command(b.work, name)
	if o.trace != "" {
		cmd.Args = append(cmd.Args, o.trace)
	}
	cmd.Stderr = os.Stderr
	p, err := tool.StartBy(b.start, cmd)
	if err != nil {
		return err
	}
	defer p.End()
	if _, err := p.Out.ReadString('\n'); err != nil {
		return fmt.Errorf("the workload did not begin: %w", err)
	}
	time.Sleep(before)
	if o.trace == "" {
		return b.record(o, cmd.Process.Pid)
	}
	if _, err := io.WriteString(p.In, "begin\n"); err != nil {
		return err
	}
	time.Sleep(before)
	if err := b.record(o, cmd.Process.Pid); err != nil {
		return err
	}
	if _, err := io.WriteString(p.In, "end\n"); err != nil {
		return err
	}
	return cmd.Wait()
}

// server observes the server that the flags name, while a
// command loads it.
func (b *bench) server(o *observation, _ string) error {
	if *load != "" {
		cmd := exec.Command("sh", "-c", *load)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := cmd.Start(); err != nil {
			return err
		}
		defer cmd.Wait()
		defer syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
		time.Sleep(time.Second)
	}
	if o.trace == "" {
		return b.record(o, *pid)
	}
	fetched := make(chan error, 1)
	go func() { fetched <- b.fetch(o.trace) }()
	time.Sleep(before)
	err := b.record(o, *pid)
	return errors.Join(err, <-fetched)
}

// fetch saves the trace of a server, which sends it when it is over.
func (b *bench) fetch(path string) error {
	length := before + b.length + after
	client := http.Client{Timeout: length + time.Minute}
	resp, err := client.Get(fmt.Sprintf("%s?seconds=%.0f", *url, length.Seconds()))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("fetching %s: %s", *url, resp.Status)
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, resp.Body)
	return errors.Join(err, f.Close())
}
