package interchange

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	runtimeprofiles "runtime/pprof"
	"slices"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/internal/memory"
	"github.com/cpprof/cpprof/sampledata"
)

const (
	aFolded = "# by stackcollapse\nmain;handle;encode 42\nmain;handle 7\nmain 1\n"
	aPerf   = `# captured on: Sun Nov 22 07:20:09 2026
server  4711/4712 [001]  8302.041214:     250000 cpu-clock:
	          48a3c4 encoding/json.Marshal+0x24 (/srv/server)
	          49b210 main.handle+0x1b0 (/srv/server)
	          46d0a1 runtime.goexit.abi0+0x1 (/srv/server)

my server  4711 8302.051214: page-faults:
	ffffffff81000000 [unknown] ([kernel.kallsyms])
	          49b210 main.handle+0x1b0 (/srv/server)

`
)

func TestFolded(t *testing.T) {
	r := fixture.Must(readBytes(t, []byte(aFolded), Options{}))(t)
	if got, want := profileText(r), "main:0 handle:0 encode:0 [] 42\nmain:0 handle:0 [] 7\nmain:0 [] 1\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// A stack that is longer than the beginning of a file from which
// its format is found is recognised; other long lines are not.
func TestLongFolded(t *testing.T) {
	deep := strings.Repeat("main.(*node[...]).walk;", 2000)
	for _, file := range []struct {
		name, text string
		folded     bool
	}{
		{"a deep stack", deep + "main.leaf 42\nmain 1\n", true},
		{"after a comment", "# by stackcollapse\n\n" + deep + "main.leaf 42\n", true},
		{"after a stack of one function", "main 7\n" + deep + "main.leaf 42\n", true},
		{"in C++", "_start;" + strings.Repeat("std::pair<int, a&> n::operator==(n const&, b);operator();(anonymous namespace)::f;", 100) + "g 1\n", true},
		{"cut in a character", strings.Repeat("main.\u00e9t\u00e9;", 1000) + "x 1\n", true},
		{"cut in the count", strings.Repeat("main.abc;", headSize/9-1) + strings.Repeat("x", headSize%9+9-3) + " 123\n", true},
		{"one long name", strings.Repeat("a", 2*headSize) + " 1\n", false},
		{"prose", strings.Repeat("it is late; ", 1000), false},
		{"CSS", strings.Repeat("body{margin:0;padding:0}", 1000), false},
		{"JavaScript", strings.Repeat("var a=1;function f(){g();return h}", 1000), false},
		{"C", strings.Repeat("for(i;i<n;i++)f(i);", 1000), false},
		{"a table of numbers", strings.Repeat("1.5;2;", 1000), false},
		{"a table of texts", strings.Repeat(`"a";"b";`, 1000), false},
		{"empty cells", strings.Repeat(";", headSize), false},
		{"bytes", strings.Repeat("a\xff;b\x01;", 1000), false},
		{"after another line", "hello\n" + deep, false},
	} {
		in, err := Stream(strings.NewReader(file.text), "x", Auto)
		if got := err == nil && in.Format == &folded; got != file.folded {
			t.Errorf("%s: recognised as folded stacks: %v, want %v (%v)", file.name, got, file.folded, err)
		}
		if err != nil || !file.folded {
			continue
		}
		if r, err := in.Recording(Options{}); err != nil {
			t.Errorf("%s: %v", file.name, err)
		} else if err := r.Check(); err != nil {
			t.Errorf("%s: %v", file.name, err)
		}
	}
}

func TestPerf(t *testing.T) {
	r := fixture.Must(readBytes(t, []byte(aPerf), Options{}))(t)
	want := "runtime.goexit:0 main.handle:0 encoding/json.Marshal:0 [{comm server}] 250000\nmain.handle:0 [[kernel.kallsyms]]:0 [{comm my server}] 0\n"
	if got := profileText(r); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	for i, total := range []string{"250000", "1", "2"} {
		if got := r.Profile.Total(i).RatString(); got != total {
			t.Errorf("%s: %s in all, want %s", r.Profile.Quantities[i].Name, got, total)
		}
	}
	if q := r.Profile.Main(); q.Name != "cpu-clock" || q.Unit != "nanoseconds" {
		t.Errorf("%s in %s comes first", q.Name, q.Unit)
	}
}

// A profile as text, which net/http/pprof makes with debug=1, is
// refused with the remedy.
func TestTextsOfProfiles(t *testing.T) {
	for _, name := range []string{"allocs", "block", "goroutine", "heap", "mutex", "threadcreate"} {
		var text bytes.Buffer
		fixture.Check(t, runtimeprofiles.Lookup(name).WriteTo(&text, 1))
		if _, err := Stream(&text, name, Auto); err == nil || !strings.HasSuffix(err.Error(), "without debug=1 in its URL") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

const aDump = `goroutine 1 [running]:
main.main()
	/srv/main.go:12 +0x1d

goroutine 18 [sync.Mutex.Lock, 5 minutes]:
internal/sync.runtime_SemacquireMutex(0xc000012345?, 0x0?, 0x0?)
	/go/src/runtime/sema.go:95 +0x25
internal/sync.(*Mutex).lockSlow(0xc000012340)
	/go/src/internal/sync/mutex.go:149 +0x15d
sync.(*Mutex).Lock(...)
	/go/src/sync/mutex.go:46
main.(*server).handle(0xc000012340, 0x1)
	/srv/main.go:30 +0x45
created by main.main in goroutine 1
	/srv/main.go:20 +0x66

goroutine 19 [chan receive]:
main.wait(...)
	/srv/main.go:40
main.worker(0x0?)
	/srv/main.go:44 +0x45
created by main.main in goroutine 1
	/srv/main.go:21 +0x66
`

// Each dump is a sample, and its goroutines have their states,
// reasons, stacks and creation sites.
func TestGoroutineDumps(t *testing.T) {
	r, err := readBytes(t, []byte("SIGQUIT: quit\nPC=0x46\n\n"+aDump+"\n"+aDump+"\nrax 0x0\n"), Options{})
	fixture.Check(t, err)
	if r.Samples.Len() != 2 || r.Goroutines.Len() != 3 || !r.Complete() {
		t.Fatalf("%d samples of %d goroutines", r.Samples.Len(), r.Goroutines.Len())
	}
	want := map[int64]string{
		1: "running  main.main:12", 18: "blocked sync.Mutex.Lock main.(*server).handle:30 sync.(*Mutex).Lock:46 internal/sync.(*Mutex).lockSlow:149 internal/sync.runtime_SemacquireMutex:95",
		19: "waiting chan receive main.worker:44 main.wait:40",
	}
	for _, run := range r.Runs.All() {
		var stack []string
		for n := run.Stack; n != sampledata.NoStack; n = r.Nodes[n].Parent {
			stack = append([]string{fmt.Sprintf("%s:%d", r.Functions[r.Nodes[n].Function].Name, r.Nodes[n].Line)}, stack...)
		}
		g := r.Goroutines.At(run.Goroutine)
		if got := fmt.Sprint(run.Run, " ", run.Reason, " ", strings.Join(stack, " ")); got != want[g.ID] || run.Last != 1 {
			t.Errorf("goroutine %d: %s up to sample %d, want %s", g.ID, got, run.Last, want[g.ID])
		}
		if g.ID != 1 && (g.Site.Function != "main.main" || g.Site.Line < 20 || g.Parent != 1) {
			t.Errorf("goroutine %d was created by %d at %+v", g.ID, g.Parent, g.Site)
		}
	}
}

// A dump is as long as there are goroutines, and the next one
// follows without a blank line. Goroutines that never ran have a
// frame of the runtime below their function in it.
func TestLongGoroutineDumps(t *testing.T) {
	const dumps, goroutines = 5, 700
	var text strings.Builder
	for range dumps {
		for i := range goroutines {
			fmt.Fprintf(&text, "%sgoroutine %d [runnable]:\nmain.worker()\n\t/src/shop/main.go:44 +0x1d\nruntime.goexit({})\n\t/go/src/runtime/asm_amd64.s:1771 +0x1\n"+
				"created by main.main in goroutine 1\n\t/src/shop/main.go:23 +0x57\n", strings.Repeat("\n", min(i, 1)), 18+i)
		}
	}
	r := fixture.Must(readBytes(t, []byte(text.String()), Options{}))(t)
	if r.Samples.Len() != dumps || r.Goroutines.Len() != goroutines {
		t.Errorf("%d dumps of %d goroutines, want %d of %d", r.Samples.Len(), r.Goroutines.Len(), dumps, goroutines)
	}
	for _, g := range r.Goroutines.All() {
		if name := r.Functions[g.Start].Name; name != "main.worker" {
			t.Fatalf("goroutine %d began with %s", g.ID, name)
		}
	}
}

// The dump of this program has the goroutine of this test.
func TestOwnGoroutineDump(t *testing.T) {
	buffer := make([]byte, 1<<20)
	r := fixture.Must(readBytes(t, buffer[:runtime.Stack(buffer, true)], Options{}))(t)
	if !slices.ContainsFunc(r.Functions, func(f sampledata.Function) bool { return strings.HasSuffix(f.Name, "interchange.TestOwnGoroutineDump") }) {
		t.Errorf("this test is not in %v", r.Functions)
	}
}

// An error names the line.
func TestWrongTexts(t *testing.T) {
	for _, c := range []struct{ format, text, want string }{
		{"folded", "a;b 1\n\na;b\n", `folded stacks: line 3: "a;b" has no count`},
		{"folded", "a;b -1\n", `folded stacks: line 1: "-1" is not a count`},
		{"folded", "", "folded stacks: there are none"},
		{"folded", strings.Repeat("a;", 20_000) + "b 1\n", "folded stacks: line 1: a stack of more than 10000 calls"},
		{"folded", strings.Repeat("a", longestLine+1), "folded stacks: line 1: it is longer than 1 MB"},
		{"perf", "\t12 main.f\n", `perf script: line 1: "\t12 main.f" is no frame of a sample`},
		{"perf", "odd\n", `perf script: line 1: "odd" begins no sample`},
		{"perf", "", "perf script: there are no samples"},
		{"goroutines", "what is this?\n", "goroutine dump: line 1: there is no goroutine"},
		{"goroutines", "goroutine 8 [running]:\n%41(0x1)\n", "goroutine dump: line 1: the dump that begins there has a function whose name can't be read"},
		{"perf", "a 1 1.5: 99999999999999999999 cpu:\n", "perf script: line 1: \"99999999999999999999\" is not a period"},
	} {
		in := fixture.Must(Stream(strings.NewReader(c.text), "x", c.format))(t)
		if _, err := in.Recording(Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40q: %v, want %s", c.text, err, c.want)
		}
	}
}

// Texts of very many stacks are refused before they take more
// memory than they may.
func TestMemoryOfTexts(t *testing.T) {
	var lines strings.Builder
	for i := range 100_000 {
		lines.WriteString("a;" + strings.Repeat("b", i%50+1) + ";c 1\n")
	}
	in := fixture.Must(Stream(strings.NewReader(lines.String()), "x", "folded"))(t)
	var over *memory.Error
	if _, err := in.Recording(Options{MaxMemory: 1 << 20}); !errors.As(err, &over) {
		t.Errorf("got %v", err)
	}
}

func FuzzReadDumps(f *testing.F)  { fuzzText(f, "goroutines", aDump) }
func FuzzReadFolded(f *testing.F) { fuzzText(f, "folded", aFolded) }
func FuzzReadPerf(f *testing.F)   { fuzzText(f, "perf", aPerf) }

// fuzzText reads any content in a format. What can be read is a
// valid recording.
func fuzzText(f *testing.F, format, example string) {
	f.Add(example)
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		in, err := Stream(strings.NewReader(text), "x", format)
		if err != nil {
			return
		}
		r, err := in.Recording(Options{MaxMemory: 1 << 26})
		if err != nil {
			return
		}
		fixture.Check(t, r.Check())
	})
}
