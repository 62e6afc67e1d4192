package syncflow

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"maps"
	"slices"

	"github.com/cpprof/cpprof/sampler/target/gobinary/unwind"
	"github.com/cpprof/cpprof/sampler/target/machinecode"
)

// What was found out about places in a program's code holds for
// every run of the program. It can be written to bytes, and read
// by the analyzer of another run. The bytes are not trusted:
// what they say must fit the program's table of functions.

// A place is an instruction, as in unwind.Frame.
type place struct {
	pc    uint64
	exact bool
}

func placeOf(f *unwind.Frame) place { return place{f.PC, f.Exact} }

// known is what was found out about places, in this run and in
// earlier ones.
type known struct {
	locks   map[place]*siteLocks
	actions map[place][]siteAction
}

// Bounds of what is read.
const (
	maxPlaces   = 1 << 17
	maxRefs     = 256 // locks or actions at one place
	maxExprRead = 16  // how deep an expression may be
)

const knownMagic = "cpprof learned 6\n"

// AppendKnown appends what is known of the program's code.
func (a *Analyzer) AppendKnown(b []byte) []byte {
	c := codec{a: a, b: append(b, knownMagic...)}
	c.known(&a.known, a.waitedIn)
	return c.b
}

var errKnown = errors.New("what was learned about the program can't be read")

// Remember takes over what AppendKnown has written in another
// run of the program. If it can't read that, it returns an
// error, and nothing has changed.
func (a *Analyzer) Remember(b []byte) error {
	b, ok := bytes.CutPrefix(b, []byte(knownMagic))
	c := codec{a: a, b: b, reading: true, bad: !ok}
	k := known{locks: map[place]*siteLocks{}, actions: map[place][]siteAction{}}
	waitedIn := map[uint64]bool{}
	if c.known(&k, waitedIn); c.bad || len(c.b) > 0 {
		return errKnown
	}
	maps.Copy(a.waitedIn, waitedIn)
	maps.Copy(a.known.locks, k.locks)
	maps.Copy(a.known.actions, k.actions)
	return nil
}

// A codec writes values as bytes, or reads them. After the first
// mistake, everything that it reads is 0.
type codec struct {
	a       *Analyzer
	b       []byte
	reading bool
	bad     bool
}

// known codes what is known of a program.
func (c *codec) known(k *known, waitedIn map[uint64]bool) {
	codePlaces(c, k.locks, c.locks)
	codePlaces(c, k.actions, func(actions *[]siteAction) {
		codeList(c, actions, maxRefs, func(t *siteAction) {
			c.expr(&t.object, 0)
			codeBelow(c, &t.kind, uint64(Close)+1)
			c.bool(&t.awaited)
		})
	})
	// What is known of places without locks depends on these: see noteWait.
	entries := slices.Sorted(maps.Keys(waitedIn))
	codeList(c, &entries, maxAwaited, func(entry *uint64) {
		c.number(entry)
		f, ok := c.a.p.Table.Func(*entry)
		c.bad = c.bad || !ok || f.Entry != *entry
		waitedIn[*entry] = true
	})
}

// locks codes what is known of the locks at one place.
func (c *codec) locks(at **siteLocks) {
	if c.reading {
		*at = &siteLocks{}
	}
	p, n := *at, 0
	c.bool(&p.unknown)
	for _, refs := range []*[]lockRef{&p.held, &p.released, &p.later, &p.doubtful, &p.made,
		&p.toCome} {
		codeList(c, refs, maxRefs, func(r *lockRef) {
			c.expr(&r.lock, 0)
			c.expr(&r.via, 0)
			codeBelow(c, &r.mode, uint64(Read)+1)
			codeBelow(c, &r.certainty, uint64(Possible)+1)
			c.bool(&r.passedOn)
			c.expr(&r.under, 0)
			codeBelow(c, &r.mask, 1<<8)
			c.bool(&r.zero)
		})
		n += len(*refs)
	}
	saved := slices.Sorted(maps.Keys(p.saved))
	codeList(c, &saved, maxRefs, func(r *int) {
		codeBelow(c, r, maxRefs)
		word := p.saved[*r]
		if c.int(&word); c.reading {
			p.save(*r, word)
		}
	})
	if c.reading && !p.unknown && len(saved)+n-len(p.made) == 0 {
		*at = noLocks
	}
}

// codePlaces codes a map, in the order of the places.
func codePlaces[T any](c *codec, m map[place]T, code func(*T)) {
	places := slices.SortedFunc(maps.Keys(m), func(p, q place) int {
		return cmp.Or(cmp.Compare(p.pc, q.pc), cmp.Compare(btoi(p.exact), btoi(q.exact)))
	})
	places = places[:min(len(places), maxPlaces)]
	pc := uint64(0)
	codeList(c, &places, maxPlaces, func(p *place) {
		step := p.pc - pc
		c.number(&step)
		pc += step
		p.pc = pc
		c.bool(&p.exact)
		_, ok := c.a.p.Table.Func(pc)
		c.bad = c.bad || !ok
		v := m[*p]
		code(&v)
		m[*p] = v
	})
}

// codeList codes the number of elements, and each of them. An
// element has at least one byte.
func codeList[T any](c *codec, list *[]T, most uint64, code func(*T)) {
	n := len(*list)
	if codeBelow(c, &n, most+1); c.reading {
		if n > len(c.b) {
			c.bad, n = true, 0
		}
		*list = make([]T, n)
	}
	for i := range *list {
		code(&(*list)[i])
	}
}

// codeBelow codes a number that must be less than most.
func codeBelow[T ~uint8 | ~int](c *codec, v *T, most uint64) {
	n := uint64(*v)
	if c.number(&n); c.reading {
		if n >= most {
			c.bad, n = true, 0
		}
		*v = T(n)
	}
}

func (c *codec) number(n *uint64) {
	if !c.reading {
		c.b = binary.AppendUvarint(c.b, *n)
		return
	}
	v, size := binary.Uvarint(c.b)
	if size <= 0 {
		c.bad, c.b, v, size = true, nil, 0, 0
	}
	*n, c.b = v, c.b[size:]
}

// int codes a number with a sign, which is the lowest bit.
func (c *codec) int(v *int64) {
	n := uint64(*v<<1 ^ *v>>63)
	c.number(&n)
	*v = int64(n>>1) ^ -int64(n&1)
}

func (c *codec) bool(v *bool) {
	n := btoi(*v)
	codeBelow(c, &n, 2)
	*v = n == 1
}

func btoi(v bool) int {
	if v {
		return 1
	}
	return 0
}

// expr codes an expression after its kind, or 0 for none.
func (c *codec) expr(x **expr, depth int) {
	k := kUnknown
	if *x != nil {
		k = (*x).kind
	}
	codeBelow(c, &k, uint64(kLow)+1)
	if k == kUnknown || c.bad || depth > maxExprRead {
		c.bad = c.bad || k != kUnknown
		return
	}
	if c.reading {
		*x = &expr{kind: k}
	}
	e := *x
	c.int(&e.c)
	switch e.kind {
	case kEntry:
		c.bad = c.bad || e.c < 0 || e.c >= machinecode.NumRegs
	case kAdd, kLoad, kLow:
		c.expr(&e.a, depth+1)
	case kSum:
		c.expr(&e.a, depth+1)
		c.expr(&e.b, depth+1)
	}
}
