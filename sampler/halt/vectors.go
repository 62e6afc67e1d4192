//go:build linux && (amd64 || arm64)

package halt

import "unsafe"

// maxVectors is the size of the largest set of vector registers
// that is read.
const maxVectors = 4096

// VectorRegisters appends the vector registers of a halted
// thread to words. Code that moves memory may have the only copy
// of a pointer there. It must be called where a thread is
// halted: by a function that a Halter calls.
func VectorRegisters(tid int, words []uint64) []uint64 {
	at := len(words)
	words = append(words, make([]uint64, maxVectors/8)...)
	n, err := regsetLen(tid, vectorSet, unsafe.Pointer(&words[at]), maxVectors)
	if err != nil {
		return words[:at]
	}
	return words[:at+int(n/8)]
}
