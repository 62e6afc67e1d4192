//go:build (windows && amd64) || (darwin && macnative)

package delve

func newHalter(pid int, _ bool) (halter, error) { return newNativeHalter(pid) }

func innerThreads(int) map[uint64]int { return nil }
