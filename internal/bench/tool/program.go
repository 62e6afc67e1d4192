package tool

import (
	"bufio"
	"io"
	"os/exec"
)

// A Program is one that a benchmark has started.
type Program struct {
	*exec.Cmd
	In  io.WriteCloser
	Out *bufio.Reader
}

// Start starts a program with pipes for its input and output.
func Start(cmd *exec.Cmd) (*Program, error) { return StartBy((*exec.Cmd).Start, cmd) }

// StartBy is Start with a function that starts programs in its own way.
func StartBy(start func(*exec.Cmd) error, cmd *exec.Cmd) (*Program, error) {
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &Program{cmd, in, bufio.NewReader(out)}, start(cmd)
}

// Ready starts a program, and waits for the line that it prints
// when it is ready.
func Ready(cmd *exec.Cmd) (p *Program, line string, err error) {
	if p, err = Start(cmd); err != nil {
		return nil, "", err
	}
	if line, err = p.Out.ReadString('\n'); err != nil {
		p.End()
		return nil, "", err
	}
	return p, line, nil
}

// End kills the program.
func (p *Program) End() {
	p.Process.Kill()
	p.Wait()
}
