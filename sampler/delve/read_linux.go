//go:build amd64 || arm64

package delve

import copied "github.com/cpprof/cpprof/sampler/target/memory"

func (s *seizer) read(spans []span) {
	ranges := make([]copied.Range, len(spans))
	for i, p := range spans {
		ranges[i] = copied.Range{Addr: p.addr, Buf: p.data}
	}
	s.reader.ReadRanges(ranges)
	for i := range spans {
		spans[i].data = ranges[i].Buf
	}
}

func (s *seizer) unanswered() int64 { return s.process.Unanswered() }
