package tool

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
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

// Begin starts a program. The returned function waits for its
// end; what the program has said comes with the error.
func Begin(c *exec.Cmd) (end func() error, err error) { return BeginBy((*exec.Cmd).Start, c) }

// BeginBy is Begin with a function that starts programs in its own way.
func BeginBy(start func(*exec.Cmd) error, c *exec.Cmd) (end func() error, err error) {
	var said bytes.Buffer
	c.Stdout, c.Stderr = &said, &said
	return func() error {
		if err := c.Wait(); err != nil {
			return fmt.Errorf("%s: %w\n%s", strings.Join(c.Args, " "), err, &said)
		}
		return nil
	}, start(c)
}

// Run runs a program, likewise.
func Run(c *exec.Cmd) error {
	end, err := Begin(c)
	if err != nil {
		return err
	}
	return end()
}

// Go runs the go command in a folder, with additions to its environment.
func Go(dir string, env []string, args ...string) error {
	c := exec.Command("go", args...)
	c.Dir, c.Env = dir, append(os.Environ(), env...)
	return Run(c)
}
