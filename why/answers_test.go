package why

import (
	"slices"
	"testing"
)

// Who waits in a library for what another goroutine of it reads may wait
// for an answer.
func TestWaitsForAReader(t *testing.T) {
	for _, c := range []struct {
		reader, call string
		want         bool
	}{
		{"example.com/wire/lib.(*conn).recv", "net.(*netFD).Read", true},
		{"example.com/wire/lib.(*conn).recv", "os.(*File).Read", false},
		{"example.com/other/lib.(*conn).recv", "net.(*netFD).Read", false},
	} {
		s := newScene()
		callers, reader := s.spawn(3, "main.upload"), s.spawn(1, c.reader)[0]
		s.samples(t, 200, func(i int) {
			s.all(callers, s.at(idles, "main.upload", "main.put", "example.com/wire/lib.(*File).ReadFrom", "example.com/wire/lib.(*conn).sendPacket"))
			s.some(i, 20, callers, s.at(runs, "main.upload", "main.put"))
			s.is[reader] = s.at(reads, c.reader, c.call)
			s.sometimes(i, 30, reader, s.at(runs, c.reader))
		})
		a := s.find(t)
		if len(a.Findings) == 0 || a.Findings[0].Class != "go:main.upload" || slices.Contains(a.Findings[0].Signs, ofReader) != c.want {
			t.Errorf("%+v: %+v", c, briefly(a))
		}
	}
}
