//go:build unix

package config

import (
	"io/fs"
	"os"
	"syscall"
)

// ours reports whether a file belongs to the user who runs this program.
func ours(info fs.FileInfo) bool {
	status, ok := info.Sys().(*syscall.Stat_t)
	return ok && int64(status.Uid) == int64(os.Geteuid())
}
