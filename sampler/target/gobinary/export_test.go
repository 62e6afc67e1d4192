package gobinary

import (
	"io"

	"github.com/cpprof/cpprof/sampler/target/gobinary/globals"
)

// GlobalsFromCode finds the globals in code although the binary
// has symbols, as linked.
func GlobalsFromCode(r io.ReaderAt, b *Binary) (globals.Globals, error) {
	im, err := newImage(r)
	if err != nil {
		return globals.Globals{}, err
	}
	m, err := findModule(im, &b.Layout.Module)
	if err != nil {
		return globals.Globals{}, err
	}
	code, err := codeOf(im, m, b.Arch)
	if err != nil {
		return globals.Globals{}, err
	}
	return globalsIn(code, b.Layout), nil
}
