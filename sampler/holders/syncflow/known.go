package syncflow

import (
	"cmp"
	"encoding/binary"
	"errors"
	"maps"
	"slices"

	"github.com/cpprof/cpprof/sampler/target/gobinary/unwind"
	"github.com/cpprof/cpprof/sampler/target/machinecode"
)

// What was found out about places in a program's code holds for every run of
// the program. It can be written to bytes, and read by the analyzer of
// another run. The bytes are not trusted: what they say must fit the
// program's table of functions.

// A place is an instruction, as in unwind.Frame.
type place struct {
	pc    uint64
	exact bool
}

func placeOf(f *unwind.Frame) place { return place{f.PC, f.Exact} }

// known is what was found out about places, in this run and in earlier ones.
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

const knownMagic = "cpprof learned 5\n"

// AppendKnown appends what is known of the program's code.
func (a *Analyzer) AppendKnown(b []byte) []byte {
	b = append(b, knownMagic...)
	e := knownEncoder{b: b}
	encodePlaces(&e, a.known.locks, func(p *siteLocks) {
		e.bool(p.unknown)
		for _, refs := range [][]lockRef{p.held, p.released, p.later, p.doubtful, p.made,
			p.toCome} {
			e.uint(uint64(len(refs)))
			for _, r := range refs {
				e.expr(r.lock)
				e.expr(r.via)
				e.uint(uint64(r.mode))
				e.uint(uint64(r.certainty))
				e.bool(r.passedOn)
				e.expr(r.under)
				e.uint(uint64(r.mask))
				e.bool(r.zero)
			}
		}
		e.uint(uint64(len(p.saved)))
		for _, r := range slices.Sorted(maps.Keys(p.saved)) {
			e.uint(uint64(r))
			e.int(p.saved[r])
		}
	})
	encodePlaces(&e, a.known.actions, func(actions []siteAction) {
		e.uint(uint64(len(actions)))
		for _, t := range actions {
			e.expr(t.object)
			e.uint(uint64(t.kind))
			e.bool(t.awaited)
		}
	})
	// What is known of places without locks depends on these: see noteWait.
	waitedIn := slices.Sorted(maps.Keys(a.waitedIn))
	e.uint(uint64(len(waitedIn)))
	for _, entry := range waitedIn {
		e.uint(entry)
	}
	return e.b
}

func encodePlaces[T any](e *knownEncoder, m map[place]T, encode func(T)) {
	places := slices.SortedFunc(maps.Keys(m), func(p, q place) int {
		return cmp.Or(cmp.Compare(p.pc, q.pc), cmp.Compare(btoi(p.exact), btoi(q.exact)))
	})
	places = places[:min(len(places), maxPlaces)]
	e.uint(uint64(len(places)))
	pc := uint64(0)
	for _, p := range places {
		e.uint(p.pc - pc)
		e.bool(p.exact)
		encode(m[p])
		pc = p.pc
	}
}

type knownEncoder struct{ b []byte }

func (e *knownEncoder) uint(n uint64) { e.b = binary.AppendUvarint(e.b, n) }
func (e *knownEncoder) int(n int64)   { e.b = binary.AppendVarint(e.b, n) }
func (e *knownEncoder) bool(v bool)   { e.uint(uint64(btoi(v))) }

func btoi(v bool) int {
	if v {
		return 1
	}
	return 0
}

// expr writes an expression after its kind plus 1, or 0 for none.
func (e *knownEncoder) expr(x *expr) {
	if x == nil {
		e.uint(0)
		return
	}
	e.uint(uint64(x.kind) + 1)
	e.int(x.c)
	switch x.kind {
	case exprAdd, exprLoad, exprByte:
		e.expr(x.a)
	case exprSum:
		e.expr(x.a)
		e.expr(x.b)
	}
}

var errKnown = errors.New("what was learned about the program can't be read")

// Remember takes over what AppendKnown has written in another run of the
// program. If it can't read that, it returns an error, and nothing has
// changed.
func (a *Analyzer) Remember(b []byte) error {
	if len(b) < len(knownMagic) || string(b[:len(knownMagic)]) != knownMagic {
		return errKnown
	}
	d := knownDecoder{a: a, b: b[len(knownMagic):]}
	locks := decodePlaces(&d, func() *siteLocks {
		p := &siteLocks{unknown: d.bool()}
		for _, refs := range []*[]lockRef{&p.held, &p.released, &p.later, &p.doubtful, &p.made,
			&p.toCome} {
			for range d.count(maxRefs) {
				*refs = append(*refs, lockRef{
					lock: d.expr(0), via: d.expr(0), mode: Mode(d.below(uint64(Read) + 1)),
					certainty: Certainty(d.below(uint64(Possible) + 1)), passedOn: d.bool(),
					under: d.expr(0), mask: uint8(d.below(1 << 8)), zero: d.bool(),
				})
			}
		}
		for range d.count(maxRefs) {
			if p.saved == nil {
				p.saved = map[int]int64{}
			}
			r := d.below(maxRefs)
			p.saved[int(r)] = d.int()
		}
		if !p.unknown && p.saved == nil &&
			len(p.held)+len(p.released)+len(p.later)+len(p.doubtful)+len(p.toCome) == 0 {
			return noLocks
		}
		return p
	})
	actions := decodePlaces(&d, func() []siteAction {
		found := noActions
		for range d.count(maxRefs) {
			found = append(found,
				siteAction{object: d.expr(0), kind: ActionKind(d.below(uint64(Close) + 1)),
					awaited: d.bool()})
		}
		return found
	})
	waitedIn := map[uint64]bool{}
	for range d.count(maxAwaited) {
		entry := d.uint()
		if f, ok := a.p.Table.Func(entry); !ok || f.Entry != entry {
			d.bad = true
		}
		waitedIn[entry] = true
	}
	if d.bad || len(d.b) > 0 {
		return errKnown
	}
	maps.Copy(a.waitedIn, waitedIn)
	maps.Copy(a.known.locks, locks)
	maps.Copy(a.known.actions, actions)
	return nil
}

func decodePlaces[T any](d *knownDecoder, decode func() T) map[place]T {
	m := map[place]T{}
	pc := uint64(0)
	for range d.count(maxPlaces) {
		pc += d.uint()
		p := place{pc, d.bool()}
		if _, ok := d.a.p.Table.Func(pc); !ok {
			d.bad = true
		}
		v := decode()
		if d.bad {
			return nil
		}
		m[p] = v
	}
	return m
}

// A knownDecoder reads what a knownEncoder has written. After the first
// mistake, everything that it reads is 0.
type knownDecoder struct {
	a   *Analyzer
	b   []byte
	bad bool
}

func (d *knownDecoder) uint() uint64 {
	n, size := binary.Uvarint(d.b)
	return decoded(d, n, size)
}

func (d *knownDecoder) int() int64 {
	n, size := binary.Varint(d.b)
	return decoded(d, n, size)
}

// decoded skips the bytes of a number that was read, and returns it. A size
// of 0 or less means that it could not be read.
func decoded[T int64 | uint64](d *knownDecoder, n T, size int) T {
	if size <= 0 {
		d.bad, d.b = true, nil
		return 0
	}
	d.b = d.b[size:]
	return n
}

// below reads a number that must be less than most.
func (d *knownDecoder) below(most uint64) uint64 {
	n := d.uint()
	if n >= most {
		d.bad = true
		return 0
	}
	return n
}

func (d *knownDecoder) bool() bool { return d.below(2) == 1 }

// count reads the number of the elements that follow. Each has at least one byte.
func (d *knownDecoder) count(most uint64) uint64 {
	n := d.below(most + 1)
	if n > uint64(len(d.b)) {
		d.bad = true
		return 0
	}
	return n
}

func (d *knownDecoder) expr(depth int) *expr {
	kind := d.below(uint64(exprByte) + 2)
	if kind == 0 || d.bad || depth > maxExprRead {
		d.bad = d.bad || kind != 0
		return nil
	}
	x := &expr{kind: exprKind(kind - 1), c: d.int()}
	switch x.kind {
	case exprRegister:
		d.bad = d.bad || x.c < 0 || x.c >= machinecode.NumRegs
	case exprAdd, exprLoad, exprByte:
		x.a = d.expr(depth + 1)
	case exprSum:
		x.a, x.b = d.expr(depth+1), d.expr(depth+1)
	}
	return x
}
