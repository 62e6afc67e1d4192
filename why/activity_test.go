package why

import (
	"testing"

	"github.com/cpprof/cpprof/sampledata"
)

// What a goroutine waits for without a processor: the kernel, by
// name, or C code.
func TestOutsideOfGo(t *testing.T) {
	for _, c := range []struct {
		stack []string
		kind  Kind
		call  string
	}{
		{[]string{"os.(*File).Sync", "syscall.Fsync", "syscall.Syscall", "runtime.entersyscall"}, BlockingKind, "fsync, by os.(*File).Sync"},
		{[]string{"net.sysSocket", "syscall.Socket", "syscall.RawSyscall6", "internal/runtime/syscall/linux.Syscall6"}, BlockingKind, "socket, by net.sysSocket"},
		{[]string{"runtime.cgocall"}, ForeignKind, ""},
	} {
		s := newScene()
		all := s.spawn(4, "main.worker")
		s.samples(t, 100, func(i int) {
			s.all(all,
				s.at(sampledata.State{Run: sampledata.Waiting, Reason: "syscall"}, append([]string{"main.worker", "main.store"}, c.stack...)...))
			s.some(i, 10, all, s.at(runs, "main.worker"))
		})
		a := s.find(t)
		if len(a.Findings) != 1 || a.Findings[0].Kind != c.kind {
			t.Fatalf("in %q: %+v", c.stack, a.Findings)
		}
		call := ""
		for _, p := range a.Findings[0].Calls {
			call += p.Name
		}
		if call != c.call {
			t.Errorf("in %q: calls %q, want %q", c.stack, call, c.call)
		}
	}
}

// A program may wait for a process most of the time, though none of its
// goroutines does again and again.
func TestForProcess(t *testing.T) {
	for waits, want := range map[int]bool{80: true, 30: false} {
		s := newScene()
		g := s.spawn(1, "main.load")[0]
		for i := range 100 {
			state := s.at(runs, "main.load", "main.parse")
			if i < waits {
				state = s.at(sampledata.State{Run: sampledata.Waiting, Reason: "syscall"}, "main.load", "main.list", "os/exec.(*Cmd).Wait")
			}
			s.sample(t, states{g: state})
		}
		if p := s.find(t).ForProcess; (p != nil) != want || want && (p.Name != "main.list" || !nearly(p.Share, 0.8)) {
			t.Errorf("%d of 100 samples: %+v", waits, p)
		}
	}
}
