//go:build !linux

package delve

// limitMemory does nothing: only Linux limits what a process may write to.
func limitMemory() {}
