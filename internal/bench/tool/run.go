package tool

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

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
