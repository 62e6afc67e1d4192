//go:build amd64 || arm64

package delve

import "golang.org/x/sys/unix"

// maxVector is how many spans one system call accepts.
const maxVector = 1024

func (s *seizer) read(spans []span) {
	local := make([]unix.Iovec, 0, min(len(spans), maxVector))
	remote := make([]unix.RemoteIovec, 0, cap(local))
	for len(spans) > 0 {
		local, remote = local[:0], remote[:0]
		n := min(len(spans), maxVector)
		for i := range spans[:n] {
			if len(spans[i].data) == 0 {
				n = i + 1
				break
			}
			v := unix.Iovec{Base: &spans[i].data[0]}
			v.SetLen(len(spans[i].data))
			local = append(local, v)
			remote = append(remote, unix.RemoteIovec{Base: uintptr(spans[i].addr), Len: len(spans[i].data)})
		}
		got := 0
		if len(local) > 0 {
			got, _ = unix.ProcessVMReadv(s.pid, local, remote, 0)
		}
		spans = spans[trim(spans[:n], max(got, 0)):]
	}
}

// trim shortens the spans to what a vectored read of got bytes has filled of them. It returns how many spans are done: a
// read ends at the first page that is not mapped, so the first shortened span is the last of these.
func trim(spans []span, got int) int {
	for i := range spans {
		if len(spans[i].data) > got {
			spans[i].data = spans[i].data[:got]
			return i + 1
		}
		got -= len(spans[i].data)
	}
	return len(spans)
}
