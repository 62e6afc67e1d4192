package delve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/go-delve/delve/pkg/proc"

	"github.com/cpprof/cpprof/sampler"
	"github.com/cpprof/cpprof/sampler/target/elffile"
)

// Delve believes what an executable says, and reads it in
// goroutines of its own: tables without end would fill the
// memory, and a panic end the program. So a process of its own
// loads an executable first. That process is this program, which
// gets no further than the initialization of this package.

// trialVar is the variable of the environment with the path of
// the executable.
const trialVar = "CPPROF_DELVE_TRIAL"

// Limits of a trial. Of what it writes, the first line is shown.
const (
	trialTime = time.Minute
	trialText = 1 << 10
)

func init() {
	path := os.Getenv(trialVar)
	if path == "" {
		return
	}
	limitMemory()
	if err := trial(path); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// try returns an error if Delve can't load an executable.
func try(path string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), trialTime)
	defer cancel()
	c := exec.CommandContext(ctx, self)
	c.Env = append(os.Environ(), trialVar+"="+path)
	var said firstText
	c.Stderr = &said
	if err = c.Run(); err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return fmt.Errorf("it has more of it than can be read in %v", trialTime)
	}
	line, _, _ := strings.Cut(said.String(), "\n")
	return errors.New(line)
}

// firstText keeps the beginning of what is written.
type firstText struct{ bytes.Buffer }

func (t *firstText) Write(b []byte) (int, error) {
	t.Buffer.Write(b[:min(len(b), trialText-t.Len())])
	return len(b), nil
}

// trial loads an executable as Delve will. One whose debug
// information is damaged is refused: Delve would open the file
// that a link in it names.
func trial(path string) error {
	info, err := sampler.ReadExecutable(path)
	if err != nil {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	if f, err := elffile.New(file); err == nil {
		if _, err := elffile.Symbols(f); err != nil {
			return err
		}
		if _, err := f.DWARF(); err != nil {
			return err
		}
	}
	quiet()
	return proc.NewBinaryInfo(info.OS, info.Arch, true).LoadBinaryInfo(path, info.Entry, nil)
}
