package page

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/cpprof/cpprof/internal/intern"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
	"github.com/klauspost/compress/flate"
)

// A header begins the data. The numbers of all trees follow it,
// column by column.
type header struct {
	Version  int                        `json:"version"`
	Name     string                     `json:"name"`
	Title    string                     `json:"title"` // what was recorded
	Against  string                     `json:"against,omitempty"`
	Open     string                     `json:"open"`
	Unit     string                     `json:"unit"`
	Measure  string                     `json:"measure"` // the name of what weighs: "time"
	Counted  bool                       `json:"counted"` // hits are counted beside the weights
	Frames   []string                   `json:"frames"`  // the names of frames
	Slices   int                        `json:"slices"`
	Each     int32                      `json:"each"` // samples of a slice
	Samples  int                        `json:"samples"`
	Rounded  int64                      `json:"rounded"` // shares of hits that were rounded
	Trees    []treeHeader               `json:"trees"`
	Views    []viewHeader               `json:"views"`
	Tables   map[string]json.RawMessage `json:"tables"`
	Warnings []string                   `json:"warnings"`
	Growing  bool                       `json:"growing"` // the recording goes on
	// The server can show goroutines over time, and their calls.
	Times bool   `json:"times"`
	Calls string `json:"calls,omitempty"` // only the time inside these calls counts
	Count int    `json:"count,omitempty"` // how many of them have samples
}

// A treeHeader has the lengths of a tree's columns.
type treeHeader struct {
	Nodes   int         `json:"nodes"`
	Side    sideHeader  `json:"side"`
	Against *sideHeader `json:"against,omitempty"`
}

type sideHeader struct {
	Portions int `json:"portions"`
	Spells   int `json:"spells"`
	Sums     int `json:"sums"`
}

// A viewHeader is a view to choose: a tree, or its part below a node.
type viewHeader struct {
	Title string `json:"title"`
	Name  string `json:"name"` // "*", or a class
	Tree  int    `json:"tree"`
	Node  int32  `json:"node"`
}

// A packer packs numbers as varints: base 128, the least
// significant digit first, with the high bit set on all digits
// but the last. Signed numbers alternate: 0, -1, 1, -2.
type packer struct {
	bytes  []byte
	frames intern.List[string, int]
}

func (p *packer) number(n int64)  { p.bytes = binary.AppendUvarint(p.bytes, uint64(n)) }
func (p *packer) signed(n int64)  { p.bytes = binary.AppendVarint(p.bytes, n) }
func (s side) header() sideHeader { return sideHeader{len(s.portions), len(s.spells), len(s.sums)} }

// column packs a number of each element of a list.
func column[T any](pack func(int64), list []T, number func(*T) int64) {
	for i := range list {
		pack(number(&list[i]))
	}
}

// clock packs the slices: when they begin, as differences; their
// samples; what they weigh.
func (p *packer) clock(c *clock) {
	at := int64(0)
	for _, s := range c.samples {
		p.number(s.at - at)
		at = s.at
	}
	column(p.number, c.samples, func(s *sampleSlice) int64 { return int64(s.number) })
	column(p.number, c.samples, func(s *sampleSlice) int64 { return s.weight })
}

// tree packs a tree: each node's frame; and how much less deep
// the next node is than a child of this one.
func (p *packer) tree(t *tree) treeHeader {
	numbers := slices.Repeat([]int{-1}, t.Symbols().Len())
	for _, f := range t.Funcs() {
		if numbers[f] < 0 {
			numbers[f] = p.frames.Number(t.Symbols().Name(f))
		}
		p.number(int64(numbers[f]))
	}
	parents := t.Parents()
	for n := int32(1); int(n) < t.Len(); n++ {
		up := int64(0)
		for at := n - 1; at != parents[n]; at = parents[at] {
			up++
		}
		p.number(up)
	}
	h := treeHeader{Nodes: t.Len(), Side: t.side.header()}
	p.side(t.side)
	if t.against != nil {
		against := t.against.header()
		h.Against = &against
		p.side(*t.against)
	}
	return h
}

// side packs the columns of a side: the portions, the spells, the sums.
func (p *packer) side(s side) {
	node := int32(0)
	for _, o := range s.portions {
		p.number(int64(o.Node - node))
		node = o.Node
	}
	column(p.number, s.portions, func(o *views.Portion) int64 { return int64(o.Kind) })
	column(p.number, s.portions, func(o *views.Portion) int64 { return o.Parts })
	stepped(p, len(s.portions), s.spells, func(v *views.Spell) (int32, int32) { return v.Portion, v.First })
	column(p.number, s.spells, func(v *views.Spell) int64 { return int64(v.Last - v.First) })
	column(p.number, s.spells, func(v *views.Spell) int64 { return v.Num })
	stepped(p, len(s.portions), s.sums, func(v *views.Sum) (int32, int32) { return v.Portion, v.Slice })
	column(p.signed, s.sums, func(v *views.Sum) int64 { return v.Hits })
	column(p.signed, s.sums, func(v *views.Sum) int64 { return v.Weight.Hi })
	column(p.signed, s.sums, func(v *views.Sum) int64 { return v.Weight.Lo })
}

// stepped packs values of portions: how many each portion has;
// then where each value is in time, as the difference from the
// portion's value before it.
func stepped[T any](p *packer, portions int, list []T, place func(*T) (portion, at int32)) {
	counts := make([]int64, portions)
	for i := range list {
		portion, _ := place(&list[i])
		counts[portion]++
	}
	for _, n := range counts {
		p.number(n)
	}
	before, last := int32(-1), int32(0)
	for i := range list {
		portion, at := place(&list[i])
		if portion != before {
			before, last = portion, 0
		}
		p.number(int64(at - last))
		last = at
	}
}

// pack returns the data: compressed, the length of the header,
// the header, and the columns.
func pack(h *header, c *clock, trees []*tree) ([]byte, error) {
	p := new(packer)
	p.clock(c)
	for _, t := range trees {
		h.Trees = append(h.Trees, p.tree(t))
	}
	h.Version, h.Slices, h.Each, h.Frames = 1, len(c.samples), c.each, p.frames.All
	text, err := json.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("packing the data of the page: %w", err)
	}
	var out bytes.Buffer
	z, err := flate.NewWriter(&out, flate.DefaultCompression)
	if err != nil {
		return nil, err
	}
	for _, part := range [][]byte{binary.AppendUvarint(nil, uint64(len(text))), text, p.bytes} {
		if _, err := z.Write(part); err != nil {
			return nil, err
		}
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// nodeBelowRoot returns the node of a class in a tree of all
// Thread Views; false if there is none.
func nodeBelowRoot(t *calltree.Tree, class string) (int32, bool) {
	f := t.Symbols().Lookup(class)
	for n := int32(1); int(n) < t.Len(); n = t.Ends()[n] {
		if t.Funcs()[n] == f {
			return n, true
		}
	}
	return 0, false
}
