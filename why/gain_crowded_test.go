package why

import (
	"slices"
	"testing"
)

// Answers may come earlier, too, if other programs use the CPUs, as a
// server does on the same machine. Of what is not waited for answers, the
// gain is known.
func TestGainWhileOthersUseTheCPUs(t *testing.T) {
	for _, c := range []struct {
		machine int64
		left    string // what the clients wait for otherwise
		known   bool
	}{{4, "net/http.(*persistConn).roundTrip", false}, {4, "main.save", true}, {2, "net/http.(*persistConn).roundTrip", true}} {
		s := newScene()
		clients, helper := s.spawn(12, "main.client"), s.spawn(1, "main.help")[0]
		measure := s.measuresCPUs(c.machine, 1, 4)
		s.samples(t, 200, func(i int) {
			s.all(clients, s.at(reads, "main.client", "main.call", "main.connect"))
			at := selects
			if c.left == "main.save" {
				at = reads
			}
			s.some(i, 2, clients, s.at(at, "main.client", "main.call", c.left))
			s.some(i, 20, clients, s.at(runs, "main.client", "main.call"))
			lacks := s.at(runs, "main.help")
			lacks.NoCPU = i%2 == 0
			s.is[helper] = lacks
			measure()
		})
		f := s.find(t).Findings
		at := slices.IndexFunc(f, func(f *Finding) bool { return f.Where.Function == "main.connect" })
		if at < 0 || f[at].Gain.Silent == NoCPUs == c.known {
			for _, f := range f {
				t.Errorf("%+v: %s of %s: %+v", c, f.Kind, f.Where.Function, f.Gain)
			}
		}
	}
}
