package views

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views/calltree"
)

// maxDepth is the greatest number of frames of a stack in a
// view. The frames nearest the leaf are kept.
const maxDepth = 1000

// bootstrap is the runtime's frame below which every goroutine starts. Stacks
// in views lack it.
const bootstrap = "runtime.goexit"

const (
	noFrame  calltree.Func = -1 // a frame that is left out
	newFrame calltree.Func = -2 // a frame whose name is not made yet
)

// stacks adds the stacks of a recording to a call tree, with the
// view's granularity.
type stacks struct {
	r     *sampledata.Recording
	o     Options
	b     *calltree.Builder
	frame []calltree.Func // by node of the recording
	depth []int32         // by node of the recording
	// by node of the recording: the node for its stack below the
	// root; -1 until first use
	atRoot []int32
	below  map[place]int32 // the same for stacks below other nodes of the tree
	max    int             // limit on the number of nodes of the tree
	cut    int32           // the number of frames to which deeper stacks are cut
	// the class of a view of a profile that was made from a
	// view: its own frame is left out
	root string
}

type place struct {
	base  int32
	stack sampledata.NodeID
}

func newStacks(r *sampledata.Recording, o Options, b *calltree.Builder) *stacks {
	n := len(r.Nodes)
	s := &stacks{r: r, o: o, b: b, below: make(map[place]int32), max: o.maxNodes(), cut: maxDepth}
	s.frame, s.depth, s.atRoot = make([]calltree.Func, n), make([]int32, n), make([]int32, n)
	for i := range r.Nodes {
		s.frame[i], s.atRoot[i], s.depth[i] = newFrame, -1, 1
		if p := r.Nodes[i].Parent; p != sampledata.NoStack {
			s.depth[i] += s.depth[p]
		}
	}
	return s
}

// deep reports whether a stack has to be cut.
func (s *stacks) deep(stack sampledata.NodeID) bool {
	return stack != sampledata.NoStack && s.depth[stack] > s.cut
}

// node returns the node at the end of a stack that begins below base.
func (s *stacks) node(base int32, stack sampledata.NodeID) int32 {
	switch {
	case stack == sampledata.NoStack:
		return base
	case s.b.Len() > s.max:
		return base // the view is refused: in one sample, many deep stacks could fill the memory
	case base == 0 && !s.deep(stack):
		return s.rooted(stack)
	}
	return lists.Made(s.below, place{base, stack}, func() int32 {
		return s.grow(base, sampledata.NoStack,
			s.ancestors(stack, func(sampledata.NodeID) bool { return false }))
	})
}

// rooted returns the node for a stack below the root. It also
// stores the nodes on the way there, because stacks share most
// frames.
func (s *stacks) rooted(stack sampledata.NodeID) int32 {
	if n := s.atRoot[stack]; n >= 0 {
		return n
	}
	way := s.ancestors(stack, func(n sampledata.NodeID) bool { return s.atRoot[n] >= 0 })
	at, above := int32(0), s.r.Nodes[way[len(way)-1]].Parent
	if above != sampledata.NoStack {
		at = s.atRoot[above]
	}
	for i := len(way) - 1; i >= 0; i-- {
		at = s.grow(at, above, way[i:i+1])
		above = way[i]
		s.atRoot[above] = at
	}
	return at
}

// ancestors returns a stack's nodes from the leaf up to the
// first known one, at most as many as are not cut.
func (s *stacks) ancestors(stack sampledata.NodeID,
	known func(sampledata.NodeID) bool) []sampledata.NodeID {
	var way []sampledata.NodeID
	for n := stack; n != sampledata.NoStack && len(way) < int(s.cut) &&
		!known(n); n = s.r.Nodes[n].Parent {
		way = append(way, n)
	}
	return way
}

// grow adds frames, listed from the leaf, below the node of the
// frame above them.
func (s *stacks) grow(at int32, above sampledata.NodeID, way []sampledata.NodeID) int32 {
	last := s.nearestFrame(above)
	for i := len(way) - 1; i >= 0; i-- {
		f := s.frameOf(way[i])
		if f == noFrame {
			continue
		}
		merged := f == last && (s.o.Granularity == ByFile || s.o.Granularity == ByPackage)
		if !merged {
			at = s.b.Child(at, f)
		}
		last = f
	}
	return at
}

// nearestFrame returns the innermost frame of a stack that is
// not left out.
func (s *stacks) nearestFrame(stack sampledata.NodeID) calltree.Func {
	for ; stack != sampledata.NoStack; stack = s.r.Nodes[stack].Parent {
		if f := s.frameOf(stack); f != noFrame {
			return f
		}
	}
	return noFrame
}

func (s *stacks) frameOf(n sampledata.NodeID) calltree.Func {
	if s.frame[n] == newFrame {
		node := &s.r.Nodes[n]
		fn := &s.r.Functions[node.Function]
		s.frame[n] = noFrame
		if isRoot := node.Parent == sampledata.NoStack &&
			(fn.Name == bootstrap || s.root != "" && fn.Name == s.root); !isRoot &&
			!s.o.mergedIntoCaller(s.r, node) {
			s.frame[n] = s.b.Symbols().Intern(s.frameName(fn, node))
		}
	}
	return s.frame[n]
}

// frameName returns the name of a frame. The functions of a
// profile that was made from a view are frames already.
func (s *stacks) frameName(fn *sampledata.Function, node *sampledata.Node) string {
	if p := s.r.Profile; p != nil && p.FromView && calltree.KindOf(fn.Name) != calltree.Function {
		return fn.Name
	}
	name := frameName(fn, node.Line, s.o.Granularity)
	if s.o.Places && s.o.Granularity == ByFunction {
		return placed(name, node)
	}
	return name
}

// frameName returns the name of a frame. If a function has no
// file, its own name is used instead.
func frameName(fn *sampledata.Function, line int32, by Granularity) string {
	name := fn.Name
	switch {
	case by == ByPackage:
		name = PackageOf(name)
	case by == ByFile && fn.File != "":
		name = fn.File
	}
	name = cmp.Or(name, "?")
	// A function must never look like typed time, a class or the
	// root, whatever its symbol is.
	if calltree.KindOf(name) != calltree.Function {
		name = "?" + name
	}
	if by == ByLine && line > 0 {
		name += ":" + strconv.Itoa(int(line))
	}
	return name
}

// PackageOf returns the import path in a Go symbol; a symbol
// without one, such as a C function, is its own package. The
// linker writes dots in a path's last element as "%2e".
func PackageOf(symbol string) string {
	s, _, _ := strings.Cut(symbol, "[") // type arguments contain other paths
	slash := strings.LastIndexByte(s, '/') + 1
	dot := strings.IndexByte(s[slash:], '.')
	if dot < 0 {
		return symbol
	}
	return strings.ReplaceAll(s[:slash+dot], "%2e", ".")
}

// ReasonFrame returns the frame for a wait reason: "chan receive" is
// ":chan-receive".
func ReasonFrame(reason string) string {
	words := strings.Fields(reason)
	if len(words) == 0 {
		return children[unknownReason].name
	}
	return ":" + strings.Join(words, "-")
}
