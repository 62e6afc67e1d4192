//go:build linux && (amd64 || arm64)

package monitor

import (
	"debug/elf"

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

// binary returns what is known of the target's executable, which
// it reads unless somebody has done so.
func (p *process) binary(t Target) (*gobinary.Binary, error) {
	if t.Binary != nil {
		return t.Binary, nil
	}
	f, entry, err := p.Executable()
	if err != nil {
		return nil, err
	}
	defer f.Close()
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
