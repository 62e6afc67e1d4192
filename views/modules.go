package views

import (
	"regexp"
	"strings"

	"github.com/cpprof/cpprof/sampledata"
)

// The modules that have no version.
const (
	OwnModule = "the program's own"
	StdModule = "the standard library's"
)

// ModuleOf returns the module of a function, with its version.
// Files of other modules have that in their names.
func ModuleOf(f *sampledata.Function) string {
	if !IsOwn(f.Name) {
		return StdModule
	}
	if at := strings.LastIndexByte(f.File, '@'); at >= 0 {
		version, _, _ := strings.Cut(f.File[at:], "/")
		return f.File[:at] + version
	}
	if _, vendored, ok := strings.Cut(f.File, "/vendor/"); ok {
		return strings.Join(strings.SplitN(vendored, "/", 4)[:min(3,
			strings.Count(vendored, "/")+1)], "/")
	}
	return OwnModule
}

// Modules are the modules of a recording's functions.
type Modules struct {
	r    *sampledata.Recording
	of   []string // by function; "" until asked
	main string
}

// NewModules returns the modules of a recording.
func NewModules(r *sampledata.Recording) *Modules {
	m := &Modules{r: r, of: make([]string, len(r.Functions)), main: OwnModule}
	for i := range r.Functions {
		if f := &r.Functions[i]; f.Name == "main.main" {
			m.main = ModuleOf(f)
		}
	}
	return m
}

// Of returns the module of a function; see ModuleOf.
func (m *Modules) Of(f sampledata.FunctionID) string {
	if m.of[f] == "" {
		m.of[f] = ModuleOf(&m.r.Functions[f])
	}
	return m.of[f]
}

// Main returns the module of the function main. It has a version
// if it was installed by its path.
func (m *Modules) Main() string { return m.main }

// taking matches the names of functions that return the next
// piece of work.
var taking = regexp.MustCompile(`^(?i:get|pop|next|take|dequeue|shift|pull|poll|fetch|consume|receive|recv)|` +
	`(Read|Recv|Receive|Next|Pop|Consume|Dequeue)([A-Z0-9]|$)`) // BLPop, XReadGroup

// TakesWork reports whether a function returns the next piece of
// work, by its name.
func TakesWork(function string) bool { return taking.MatchString(LastName(function)) }

// looping matches the names of functions that do all of the
// work, as an endless loop does. Closures are called back.
var looping = regexp.MustCompile(`^(?i:read|scan|` +
	`run|start|work|handle|process|manage|main|block|keep|sleep|pause|tick|after|delay|until|every|schedule|func\d|.*-range)|` +
	`(?i:accept|serve|listen|watch|wait|poll|monitor|loop|subscri|forever)`)

// inner matches the numbers of closures in closures.
var inner = regexp.MustCompile(`(\.\d+)+$`)

// LastName returns the name of a function or method alone,
// without type arguments: Get of lib.(*Queue[int]).Get, and of
// lib.Get[a.b]. Of a closure in another one, main.main.func2.1,
// it is func2.
func LastName(function string) string {
	var b strings.Builder
	depth := 0
	for _, r := range function {
		switch r {
		case '[':
			depth++
		case ']':
			depth--
		default:
			if depth == 0 {
				b.WriteRune(r)
			}
		}
	}
	name := inner.ReplaceAllString(b.String(), "")
	return name[strings.LastIndexByte(name, '.')+1:]
}

// isRequest reports whether a frame of a library does what
// another module has called it for, by its name: that is no wait
// for the next piece of work. The main module is no library,
// whoever calls it back.
func (d *idleness) isRequest(n sampledata.NodeID) bool {
	module := func(n sampledata.NodeID) string { return d.modules.Of(d.r.Nodes[n].Function) }
	library, entry := module(n), n
	if library == StdModule || library == OwnModule || library == d.modules.Main() {
		return false
	}
	for p := d.r.Nodes[n].Parent; p != sampledata.NoStack; p = d.r.Nodes[p].Parent {
		switch module(p) {
		case library:
			entry = p
		case StdModule:
		default:
			name := d.name(entry)
			return LastName(name) == "ReadFrom" || !TakesWork(name) && !looping.MatchString(LastName(name))
		}
	}
	return false
}
