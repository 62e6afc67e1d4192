//go:build !amd64 && !arm64

package delve

import "github.com/go-delve/delve/pkg/proc"

// savedRegisters has nothing to make registers of: no target is ever halted on these processors.
func savedRegisters(pc, sp, bp, lr uint64) proc.Registers { return nil }
