//go:build linux

package snapshot

import "golang.org/x/arch/x86/x86asm"

// callTargets lists where the calls in a function's code go, in the order of the code.
func callTargets(code []byte, pc uint64) []uint64 {
	var to []uint64
	for at := 0; at < len(code); {
		in, err := x86asm.Decode(code[at:], 64)
		if err != nil {
			at++
			continue
		}
		at += in.Len
		if in.Op == x86asm.CALL {
			if rel, ok := in.Args[0].(x86asm.Rel); ok {
				to = append(to, pc+uint64(at)+uint64(int64(rel)))
			}
		}
	}
	return to
}
