//go:build linux && (amd64 || arm64)

package variable

import (
	"errors"
	"go/constant"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/go-delve/delve/pkg/dwarf/op"
	"github.com/go-delve/delve/pkg/proc"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/halt"
)

func TestMain(m *testing.M) { fixture.Main(m) }

// running is a program whose variables are read.
type running struct {
	*fixture.Running
	process *halt.Process
	info    *Info
	delve   *proc.EvalScope
}

func start(t *testing.T, flags ...string) *running {
	t.Helper()
	path := fixture.Build(t, "variables", flags...)
	p := &running{Running: fixture.Start(t, path)}
	p.process = fixture.Must(halt.Open(p.Pid()))(t)
	t.Cleanup(func() { p.process.Close() })
	aux := fixture.Must(p.process.Auxv())(t)
	f := fixture.Must(os.Open(path))(t)
	defer f.Close()
	bi := proc.NewBinaryInfo("linux", runtime.GOARCH, false)
	fixture.Check(t, bi.LoadBinaryInfo(path, aux[halt.AuxEntry], nil))
	bias := bi.Images[0].StaticBase
	p.info = fixture.Must(Open(f, bias))(t)
	p.delve = &proc.EvalScope{Mem: onlyReads{p.process}, BinInfo: bi, Regs: op.DwarfRegisters{StaticBase: bias}}
	return p
}

// onlyReads is a process's memory, in the form that Delve asks for.
type onlyReads struct{ *halt.Process }

func (m onlyReads) ReadMemory(b []byte, addr uint64) (int, error) { return len(b), m.Read(addr, b) }

func (onlyReads) WriteMemory(uint64, []byte) (int, error) { return 0, errors.New("read only") }

// byDelve evaluates an expression with Delve; false if that finds no number.
func (p *running) byDelve(expr string) (string, bool) {
	v, err := p.delve.EvalExpression(expr, proc.LoadConfig{FollowPointers: true, MaxStructFields: -1})
	if err != nil || v.Unreadable != nil || v.Value == nil {
		return "", false
	}
	switch v.Value.Kind() {
	case constant.Bool:
		if constant.BoolVal(v.Value) {
			return "1", true
		}
		return "0", true
	case constant.Float:
		f, _ := constant.Float64Val(v.Value)
		return sampledata.Real(f).String(), true
	}
	return v.Value.ExactString(), true
}

// numbers are expressions, and how Delve writes them if it does
// so in another way.
var numbers = map[string]string{
	"main.served": "", "main.small": "", "main.byteVar": "", "main.ratio": "", "main.single": "", "main.enabled": "",
	"main.numbers[1]": "", "main.numbers[3]": "", "main.grid[1][2]": "", "len(main.numbers)": "", "cap(main.numbers)": "",
	"len(main.text)": "", "len(main.grid)": "", "cap(main.grid[0])": "",
	"main.srv.id": "", "main.srv.base.id": "", "main.srv.inner.hits": "", "main.srv.base.inner.hits": "", "main.srv.open": "",
	"main.srv.stats[1].hits": "", "main.srv.stats[1].ratio": "", "main.srv.stats[1].last": "", "main.srv.stats[2].hits": "",
	"main.srv.table[2].hits": "", "len(main.srv.stats)": "", "cap(main.srv.stats)": "", "len(main.srv.name)": "",
	"len(main.srv.byName)": "", "len(main.srv.ch)": "", "cap(main.srv.ch)": "", "len(main.srv.next.stats)": "", "main.srv.next.id": "",
	"main.srv.next.next.id": "", "main.none.id": "", "len(main.noMap)": "", "main.q.size": "", "len(main.q.items)": "",
	"main.srv.served": "main.srv.served.v", "main.total": "main.total.v", "main.total.v": "",
	"net/http.DefaultMaxHeaderBytes": "-", "len(main.srv.next.byName)": "",
}

// The values are those that Delve's evaluator finds, before and
// after the program has changed them.
func TestAsDelve(t *testing.T) {
	for name, flags := range map[string][]string{"": nil, "PIE": {"-buildmode=pie"}} {
		t.Run(name, func(t *testing.T) {
			p := start(t, flags...)
			var texts []string
			var places []*Place
			for text, delve := range numbers {
				e := fixture.Must(Parse(text))(t)
				place, err := p.info.Resolve(e)
				if (err != nil) != (delve == "-") { // a constant is no variable
					t.Fatalf("%s: %v", text, err)
				}
				if err == nil {
					texts, places = append(texts, text), append(places, place)
				}
			}
			r := NewReader(places)
			defined := 0
			compare := func() {
				defined = 0
				for i, v := range r.Read(nil, p.process.NewReader().ReadRanges) {
					other := texts[i]
					if d := numbers[other]; d != "" {
						other = d
					}
					want, ok := p.byDelve(other)
					if v.Measured() != ok || ok && v.String() != want {
						t.Errorf("%s is %v, but Delve says %q, %v", texts[i], v, want, ok)
					}
					if v.Measured() {
						defined++
					}
				}
			}
			compare()
			before := defined
			fixture.Check(t, p.Process.Signal(syscall.SIGUSR1))
			fixture.Must(p.Out.ReadString('\n'))(t)
			if compare(); defined <= before || defined == len(texts) {
				t.Errorf("%d numbers are defined, and after the change %d of %d", before, defined, len(texts))
			}
		})
	}
}

// Variables that don't move take one system call.
func TestOneCall(t *testing.T) {
	p := start(t)
	var places []*Place
	for _, text := range []string{"main.served", "main.ratio", "len(main.numbers)", "main.grid[1][2]", "main.q.size", "main.total"} {
		e := fixture.Must(Parse(text))(t)
		place := fixture.Must(p.info.Resolve(e))(t)
		places = append(places, place)
	}
	r, memory := NewReader(places), p.process.NewReader()
	for n := 1; n <= 3; n++ {
		if r.Read(nil, memory.ReadRanges); memory.Calls != n {
			t.Errorf("%d system calls for %d reads", memory.Calls, n)
		}
	}
	huge, _ := Parse("main.huge")
	place, err := p.info.Resolve(huge)
	if err != nil || place.Type != "uint64" {
		t.Errorf("%+v, %v", place, err)
	}
}

// An error says what is wrong where, and what there is instead.
func TestErrors(t *testing.T) {
	p := start(t)
	for text, want := range map[string]string{
		"":                       "want the name of a package's variable, such as main.served, or len(main.queue)\n    \n    ^",
		"served":                 "want a variable with its package, such as main.served\n    served\n    ^",
		"main.numbers[x]":        "want an index, such as [0]\n    main.numbers[x]\n                 ^",
		"main.numbers[1":         "want ] after the index\n    main.numbers[1\n                  ^",
		"len(main.numbers":       "want ) after what len( is of\n    len(main.numbers\n                    ^",
		"main.a + 1":             "want a field (.name), an index ([0]) or the end here\n    main.a + 1\n           ^",
		"main.srv.stats[0].":     "want the name of a field\n    main.srv.stats[0].\n                      ^",
		"main.servd":             "package main has no such variable, or the program does not use it; there is main.served, main.srv\n    main.servd\n             ^",
		"mian.served":            "the program has no package mian; there is main",
		"main.srv.nme":           "server has no field nme; it has base, name, open",
		"main.srv":               "it is of type *main.server, which is no number; these are: main.srv.base.id, len(main.srv.name), main.srv.open, len(main.srv.stats), len(main.srv.byName), len(main.srv.ch), main.srv.served\n    main.srv\n           ^",
		"main.text":              "it is of type string, which is no number; len(main.text) is",
		"main.srv.byName[0]":     "it is of type map[string]int: only an array or a slice has elements that can be read",
		"main.grid[2][0]":        "has only 2 elements\n    main.grid[2][0]\n               ^",
		"main.served.x":          "it is of type int, which has no fields",
		"main.srv.handler":       "which is no number",
		"len(main.served)":       "it is of type int, which has no len",
		"cap(main.text)":         "it is of type string, which has no cap",
		strings.Repeat("a", 2e3): "too long",
	} {
		e, err := Parse(text)
		if err == nil {
			_, err = p.info.Resolve(e)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got\n%v\nwant\n%s", text, err, want)
		}
	}
}

func TestNoDebugInfo(t *testing.T) {
	f := fixture.Must(os.Open(fixture.Build(t, "variables", "-ldflags=-w")))(t)
	defer f.Close()
	if _, err := Open(f, 0); err != ErrNoDebugInfo {
		t.Errorf("%v", err)
	}
}

func FuzzParse(f *testing.F) {
	for text := range numbers {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if e, err := Parse(text); err == nil && e.name == "" {
			t.Error("an expression without a name")
		}
	})
}
