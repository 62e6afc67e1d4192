//go:build linux && (amd64 || arm64)

package monitor

import (
	"debug/elf"
	"fmt"
	"os"

	"github.com/cpprof/cpprof/sampler/halt"
	"github.com/cpprof/cpprof/sampler/target/gobinary"
	"github.com/cpprof/cpprof/sampler/target/goruntime/layout"
)

// A process is a target to read memory from. It is never written to.
type process struct {
	*halt.Process
	*halt.Reader
}

func openProcess(t Target) (*process, error) {
	p, err := halt.Open(t.PID)
	if err != nil {
		return nil, err
	}
	return &process{p, p.NewReader()}, nil
}

// binary returns what is known of the target's executable, which it reads
// unless somebody has done so.
func (p *process) binary(t Target) (*gobinary.Binary, error) {
	if t.Binary != nil {
		return t.Binary, nil
	}
	f, err := os.Open(p.Path("exe"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entry, err := p.entry()
	if err != nil {
		return nil, err
	}
	return gobinary.Open(f, entry)
}

// ownLayout returns the layout that the target's debug information describes.
func (p *process) ownLayout() (*layout.Layout, error) {
	f, err := elf.Open(p.Path("exe"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return layout.FromELF(f)
}

// entry returns the address at which the program was entered.
func (p *process) entry() (uint64, error) {
	aux, err := p.Auxv()
	if err != nil {
		return 0, fmt.Errorf("find where the program was loaded: %w", err)
	}
	return aux[halt.AuxEntry], nil
}
