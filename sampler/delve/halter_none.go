//go:build !(linux && (amd64 || arm64)) && !(windows && amd64) && !(darwin && macnative)

package delve

import "errors"

func newHalter(int) (halter, error) {
	return nil, errors.New("recording isn't supported by this build: it works on linux/amd64, linux/arm64 and windows/amd64 (and on darwin built with cgo and -tags macnative); recordings can be read anywhere")
}
