// Package files opens files that other users may have created.
package files

import (
	"fmt"
	"io/fs"
	"os"
)

// Open opens a regular file or a folder for reading. It refuses a pipe or a
// device without opening it, since to open it could block forever or have
// side effects. Errors are of type *fs.PathError.
func Open(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if mode := info.Mode(); !mode.IsRegular() && !mode.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: path,
			Err: fmt.Errorf("it is %s, not a regular file", kind(mode))}
	}
	return os.Open(path)
}

// kind names the kind of a file that is neither a regular file nor a folder.
func kind(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}
