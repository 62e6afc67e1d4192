package goruntime

import (
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
)

// These tests compare what the package says with the source of
// the toolchain that runs them:
//
//	GOTOOLCHAIN=go1.28.0 go test ./sampler/target/goruntime
//
// shows what is different in that release.

// toolchain returns the release of the toolchain, and where its source is.
func toolchain(t *testing.T) (r Release, source string) {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	fixture.Check(t, err)
	dir := strings.TrimSpace(string(root))
	version := fixture.Must(os.ReadFile(filepath.Join(dir, "VERSION")))(t)
	first, _, _ := strings.Cut(string(version), "\n")
	if r, _, err = ParseRelease(first); err != nil {
		t.Fatal(err)
	}
	return r, filepath.Join(dir, "src")
}

// A source is the types and constants of some files of the
// standard library.
type source struct {
	t     *testing.T
	scope *types.Scope
	files []*ast.File
}

// load reads files of a package. What they refer to in other
// files stays unknown.
func load(t *testing.T, dir string, names ...string) source {
	t.Helper()
	fset := token.NewFileSet()
	s := source{t: t}
	for _, name := range names {
		f := fixture.Must(parser.ParseFile(fset, filepath.Join(dir, name), nil, parser.SkipObjectResolution))(t)
		s.files = append(s.files, f)
	}
	config := types.Config{Importer: importer.ForCompiler(fset, "source", nil), Error: func(error) {}, IgnoreFuncBodies: true,
		Sizes: types.SizesFor("gc", "amd64")}
	pkg, _ := config.Check(filepath.Base(dir), fset, s.files, nil)
	s.scope = pkg.Scope()
	return s
}

// constant returns the value of a constant, -1 if there is none.
func (s source) constant(name string) int64 {
	c, ok := s.scope.Lookup(name).(*types.Const)
	if !ok {
		return -1
	}
	n, _ := constant.Int64Val(c.Val())
	return n
}

// fields returns the fields of a struct.
func (s source) fields(name string) []*types.Var {
	s.t.Helper()
	object := s.scope.Lookup(name)
	if object == nil {
		s.t.Fatalf("there is no type %s any more", name)
	}
	st, ok := object.Type().Underlying().(*types.Struct)
	if !ok {
		s.t.Fatalf("%s is no struct any more", name)
	}
	var all []*types.Var
	for f := range st.Fields() {
		all = append(all, f)
	}
	return all
}

// offset returns the offset of a field; -1 if there is none. The
// types of the fields before it must be known.
func (s source) offset(structName, field string) int64 {
	s.t.Helper()
	fields := s.fields(structName)
	i := slices.IndexFunc(fields, func(f *types.Var) bool { return f.Name() == field })
	if i < 0 {
		return -1
	}
	return types.SizesFor("gc", "amd64").Offsetsof(fields[:i+1])[i]
}

func TestStatuses(t *testing.T) {
	_, src := toolchain(t)
	s := load(t, filepath.Join(src, "runtime"), "runtime2.go")
	for name, want := range map[string]int64{
		"_Gidle": GIdle, "_Grunnable": GRunnable, "_Grunning": GRunning, "_Gsyscall": GSyscall, "_Gwaiting": GWaiting,
		"_Gdead": GDead, "_Gcopystack": GCopystack, "_Gpreempted": GPreempted, "_Gscan": GScan,
		"_Pidle": PIdle, "_Prunning": PRunning, "_Pgcstop": PGCStop,
	} {
		if got := s.constant(name); got != want {
			t.Errorf("%s is %d, not %d", name, got, want)
		}
	}
	for name, want := range map[string]int64{"_Gleaked": GLeaked, "_Gdeadextra": GDeadExtra} { // from Go 1.26 on
		if got := s.constant(name); got != want && got >= 0 {
			t.Errorf("%s is %d, not %d", name, got, want)
		}
	}
	// Statuses that are not known here: those of goroutines are
	// numbered from 0 on.
	known := []string{"_Gmoribund_unused", "_Genqueue_unused", "_Gidle", "_Grunnable", "_Grunning", "_Gsyscall", "_Gwaiting", "_Gdead",
		"_Gcopystack", "_Gpreempted", "_Gleaked", "_Gdeadextra", "_Gscan"}
	for _, name := range s.scope.Names() {
		if strings.HasPrefix(name, "_G") && !slices.Contains(known, name) && !strings.HasPrefix(name, "_Gscan") {
			t.Errorf("%s = %d is not known: add it to status.go, and say there whether it stands for a goroutine", name, s.constant(name))
		}
	}
}

// Every wait reason of the toolchain is known, and every one
// that has a meaning is there.
func TestWaitReasons(t *testing.T) {
	_, src := toolchain(t)
	f := load(t, filepath.Join(src, "runtime"), "runtime2.go").files[0]
	var texts []string
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || spec.Names[0].Name != "waitReasonStrings" {
			return true
		}
		for _, e := range spec.Values[0].(*ast.CompositeLit).Elts {
			text := constant.MakeFromLiteral(e.(*ast.KeyValueExpr).Value.(*ast.BasicLit).Value, token.STRING, 0)
			texts = append(texts, constant.StringVal(text))
		}
		return false
	})
	if len(texts) < 30 {
		t.Fatalf("%d wait reasons were found", len(texts))
	}
	for _, text := range texts {
		if _, ok := waitReasons[text]; !ok && !slices.Contains(otherReasons, text) {
			t.Errorf("the wait reason %q is not known: say in waitreason.go what it means", text)
		}
	}
	for text := range waitReasons {
		if !slices.Contains(texts, text) && text != "sync.WaitGroup.Wait" { // up to Go 1.23
			t.Errorf("there is no wait reason %q any more", text)
		}
	}
}

func TestSyncOffsets(t *testing.T) {
	r, src := toolchain(t)
	mutex := "sync"
	if r.Line >= 24 {
		mutex = "internal/sync"
	}
	m := load(t, filepath.Join(src, mutex), "mutex.go")
	w := load(t, filepath.Join(src, "sync"), "rwmutex.go", "mutex.go", "cond.go")
	for name, pair := range map[string][2]int64{
		"mutexLocked": {m.constant("mutexLocked"), MutexLocked}, "mutexWoken": {m.constant("mutexWoken"), MutexWoken},
		"mutexStarving": {m.constant("mutexStarving"), MutexStarving},
		"Mutex.state":   {m.offset("Mutex", "state"), MutexState}, "Mutex.sema": {m.offset("Mutex", "sema"), MutexSema},
		"RWMutex.w": {w.offset("RWMutex", "w"), 0}, "RWMutex.writerSem": {w.offset("RWMutex", "writerSem"), RWMutexWriterSem},
		"RWMutex.readerSem":   {w.offset("RWMutex", "readerSem"), RWMutexReaderSem},
		"RWMutex.readerCount": {w.offset("RWMutex", "readerCount"), RWMutexReaderCount},
		"RWMutex.readerWait":  {w.offset("RWMutex", "readerWait"), RWMutexReaderWait},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s is %d, not %d as in sync.go", name, pair[0], pair[1])
		}
	}
}

func TestPool(t *testing.T) {
	r, src := toolchain(t)
	s := load(t, filepath.Join(src, "database/sql"), "sql.go")
	// The length is the second word of a slice.
	if at := s.offset("DB", "freeConn") + 8; at != PoolIdle {
		t.Errorf("DB.freeConn has its length at %d, not at %d", at, PoolIdle)
	}
	if at := s.offset("DB", "numOpen"); at != int64(r.PoolOpen()) || at+8 > PoolHead {
		t.Errorf("DB.numOpen lies at %d, not at %d", at, r.PoolOpen())
	}
}

func TestFD(t *testing.T) {
	_, src := toolchain(t)
	s := load(t, filepath.Join(src, "internal/poll"), "fd_unix.go", "fd_mutex.go")
	if bit := s.constant("mutexWLock"); bit != FDWriteLocked {
		t.Errorf("mutexWLock is %d, not %d", bit, FDWriteLocked)
	}
	if at := s.offset("FD", "fdmu") + s.offset("fdMutex", "state"); at != 0 {
		t.Errorf("FD.fdmu.state lies at %d", at)
	}
}

func TestMemory(t *testing.T) {
	r, src := toolchain(t)
	s := load(t, filepath.Join(src, "runtime"), "runtime2.go")
	g := s.fields("g")
	if i := slices.IndexFunc(g, func(f *types.Var) bool { return f.Name() == "m" }); i < 2 || g[i-1].Name() != "_defer" || g[i-2].Name() != "_panic" {
		t.Error("g._panic and g._defer do not lie before g.m")
	}
	p := s.fields("p")
	i := slices.IndexFunc(p, func(f *types.Var) bool { return f.Name() == "runq" })
	if q, ok := p[max(i, 0)].Type().(*types.Array); !ok || q.Len() != RunqLen {
		t.Errorf("p.runq is a %v, not an array of %d", p[max(i, 0)].Type(), RunqLen)
	}
	for field, want := range map[string]int64{"fn": DeferFn, "link": int64(r.DeferLink())} {
		if got := s.offset("_defer", field); got != want {
			t.Errorf("_defer.%s lies at %d, not at %d", field, got, want)
		}
	}
	if r.Line >= 24 {
		itab := load(t, filepath.Join(src, "internal/abi"), "iface.go")
		if at := itab.offset("ITab", "Fun"); at != FirstMethod || SecondMethod != FirstMethod+8 {
			t.Errorf("ITab.Fun lies at %d, not at %d", at, FirstMethod)
		}
	}
}

func TestHeapOffsets(t *testing.T) {
	r, src := toolchain(t)
	s := load(t, filepath.Join(src, "runtime"), "mheap.go", "mfinal.go", "mcleanup.go", "sema.go", "chan.go", "runtime2.go", "malloc.go",
		"lfstack.go", "lockrank_off.go")
	block := "finBlock"
	if r.Line < 25 {
		block = "finblock"
	}
	var timer [2]int64
	if at, ok := r.ChannelTimer(); ok {
		timer = [2]int64{s.offset("hchan", "timer"), int64(at)}
	}
	for name, pair := range map[string][2]int64{
		"finBlock.alllink": {s.offset(block, "alllink"), FinBlockLink},
		"semTabSize":       {s.constant("semTabSize"), SemaRoots},
		"semaRoot.treap":   {s.offset("semaRoot", "treap"), SemaRootTreap},
		"notifyList.head":  {s.offset("notifyList", "head"), NotifyListHead},
		"hchan.timer":      timer,
		"WaitGroup.sema":   {load(t, filepath.Join(src, "sync"), "waitgroup.go", "cond.go", "mutex.go").offset("WaitGroup", "sema"), WaitGroupSema},
		"hchan.closed":     {s.offset("hchan", "closed"), ChannelClosed},
		"hchan.recvq":      {s.offset("hchan", "recvq"), int64(r.ChannelQueues())},
		"hchan.sendq":      {s.offset("hchan", "sendq"), int64(r.ChannelQueues()) + 16},
		"m.gsignal":        {s.offset("m", "gsignal"), s.offset("m", "procid") + MGSignalAfterProcID},
		"gobuf.bp":         {s.offset("gobuf", "bp"), s.offset("gobuf", "lr") + BPAfterLR},
		"g.waitsince":      {s.offset("g", "waitsince"), s.offset("g", "waitreason") - WaitSinceBeforeReason},
		"Cond.notify":      {load(t, filepath.Join(src, "sync"), "cond.go", "mutex.go").offset("Cond", "notify"), CondList},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s is %d, not %d as in heap.go", name, pair[0], pair[1])
		}
	}
	for name, want := range map[string]SpecialKind{
		"_KindSpecialFinalizer": SpecialFinalizer, "_KindSpecialWeakHandle": SpecialWeak, "_KindSpecialCleanup": SpecialCleanup,
		"_KindSpecialProfile": SpecialOther, "_KindSpecialPinCounter": SpecialOther,
	} {
		if kind := s.constant(name); kind >= 0 && r.SpecialKindOf(byte(kind)) != want {
			t.Errorf("%s = %d is %d, not %d", name, kind, r.SpecialKindOf(byte(kind)), want)
		}
	}
	if r.Line >= 25 {
		if n, at := s.constant("cleanupBlockSize"), s.offset("cleanupBlockHeader", "alllink"); n != CleanupBlockSize || at != CleanupBlockLink {
			t.Errorf("a block of cleanups has %d bytes, and its link at %d", n, at)
		}
	}
}

// former are functions that later releases don't have any more,
// and later those that earlier ones don't have yet, with the
// line of Go from which on that is so.
var (
	former = map[string]int{
		"sync.(*Mutex).lockSlow": 24, "sync.(*Mutex).unlockSlow": 24,
	}
	later = map[string]int{
		"internal/sync.(*Mutex).Lock": 24, "internal/sync.(*Mutex).Unlock": 24, "internal/sync.(*Mutex).lockSlow": 24,
		"internal/sync.(*Mutex).unlockSlow": 24, "runtime.vgetrandom1": 24,
	}
	// local are functions in assembly that the linker knows without their package.
	local = []string{"gogo"}
)

// Every function that is known by name is in the source of the toolchain.
func TestFunctions(t *testing.T) {
	r, src := toolchain(t)
	there := functionsIn(t, src, "runtime", "sync", "internal/sync", "internal/runtime/maps")
	names := []string{Bottom, "runtime.main", "runtime.handleAsyncEvent", "runtime.gcBgMarkWorker"}
	for name := range callRoles {
		names = append(names, name)
	}
	for name := range frameKinds {
		names = append(names, name)
	}
	for name := range atomicEffects {
		names = append(names, name)
	}
	for _, name := range names {
		gone := former[name] != 0 && r.Line >= former[name] || r.Line < later[name] || slices.Contains(local, name)
		if there[name] == gone {
			t.Errorf("in %v, %s is there: %v. If it was renamed, add the new name beside it in functions.go or frames.go", r, name, there[name])
		}
	}
	for _, f := range callFamilies {
		found := false
		for name := range there {
			found = found || strings.HasPrefix(name, f.prefix)
		}
		if !found {
			t.Errorf("no function's name begins with %s any more", f.prefix)
		}
	}
}

var textDirective = regexp.MustCompile(`(?m)^TEXT\s+(?:runtime)?·(\w+)(?:<\w+>)?\(SB\)`)

// functionsIn lists the functions of packages, those in assembly
// included, with what the linker calls them.
func functionsIn(t *testing.T, src string, packages ...string) map[string]bool {
	t.Helper()
	there := map[string]bool{}
	for _, pkg := range packages {
		files, _ := filepath.Glob(filepath.Join(src, pkg, "*"))
		for _, path := range files {
			text, err := os.ReadFile(path)
			switch {
			case err != nil || strings.HasSuffix(path, "_test.go"):
			case strings.HasSuffix(path, ".s"):
				for _, m := range textDirective.FindAllStringSubmatch(string(text), -1) {
					there[pkg+"."+m[1]] = true
				}
			case strings.HasSuffix(path, ".go"):
				f, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution|parser.ParseComments)
				fixture.Check(t, err)
				for _, d := range f.Decls {
					if fn, ok := d.(*ast.FuncDecl); ok {
						there[pkg+"."+receiver(fn)+fn.Name.Name] = true
					}
				}
				for _, m := range linkname.FindAllStringSubmatch(string(text), -1) {
					there[m[1]] = true
				}
			}
		}
	}
	return there
}

var linkname = regexp.MustCompile(`(?m)^//go:linkname \w+ (\S+)$`)

// receiver writes a method's receiver as the linker does: "(*Mutex).".
func receiver(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return ""
	}
	switch t := fn.Recv.List[0].Type.(type) {
	case *ast.StarExpr:
		if id, ok := t.X.(*ast.Ident); ok {
			return "(*" + id.Name + ")."
		}
	case *ast.Ident:
		return t.Name + "."
	}
	return ""
}
