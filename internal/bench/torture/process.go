//go:build linux

package main

import (
	"context"
	"os/exec"
)

// A process is a program that was started.
type process struct {
	cmd *exec.Cmd
	ctx context.Context // done when it has ended
	err error           // how it has ended
}

func launch(cmd *exec.Cmd) (*process, error) {
	ctx, cancel := context.WithCancel(context.Background())
	p := &process{cmd: cmd, ctx: ctx}
	if err := cmd.Start(); err != nil {
		cancel()
		return nil, err
	}
	go func() {
		p.err = cmd.Wait()
		cancel()
	}()
	return p, nil
}

// over reports whether it has ended.
func (p *process) over() bool { return p.ctx.Err() != nil }
