//go:build !amd64 && !arm64

package delve

import "github.com/go-delve/delve/pkg/proc"

// savedRegisters returns nil: on these processors no target is ever halted.
func savedRegisters(pc, sp, bp, lr uint64) proc.Registers { return nil }
