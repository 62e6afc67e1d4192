//go:build (windows && amd64) || (darwin && macnative)

package delve

func newHalter(pid int) (halter, error) { return newNativeHalter(pid) }
