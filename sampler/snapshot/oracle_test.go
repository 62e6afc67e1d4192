//go:build linux && (amd64 || arm64)

package snapshot

import (
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
)

// A dumped is a goroutine as the runtime's own dump shows it.
type dumped struct {
	state   string
	frames  []string
	creator string // function and line of the go statement
	parent  int64
}

var (
	dumpHead    = regexp.MustCompile(`^goroutine (\d+) \[([^],]*)`)
	dumpPlace   = regexp.MustCompile(`^\t(.*):(\d+)`)
	dumpCreated = regexp.MustCompile(`^created by (.*?)( in goroutine (\d+))?$`)
)

// parseDump parses the output of runtime.Stack.
func parseDump(text string) map[int64]dumped {
	out := map[int64]dumped{}
	for _, part := range strings.Split(strings.TrimSpace(text), "\n\n") {
		lines := strings.Split(part, "\n")
		head := dumpHead.FindStringSubmatch(lines[0])
		if head == nil {
			continue
		}
		id, _ := strconv.ParseInt(head[1], 10, 64)
		d := dumped{state: head[2]}
		for i := 1; i+1 < len(lines); i += 2 {
			place := dumpPlace.FindStringSubmatch(lines[i+1])
			if place == nil {
				break
			}
			where := filepath.Base(place[1]) + ":" + place[2]
			if c := dumpCreated.FindStringSubmatch(lines[i]); c != nil {
				d.creator = c[1] + " " + where
				d.parent, _ = strconv.ParseInt(c[3], 10, 64)
				break
			}
			name := lines[i][:strings.LastIndexByte(lines[i], '(')]
			d.frames = append(d.frames, name+" "+where)
		}
		out[id] = d
	}
	return out
}

// shown removes the frames that the runtime doesn't print: its
// own, unless they are exported, and wrappers.
func shown(frames []string) []string {
	return slices.DeleteFunc(frames, func(f string) bool {
		name, _, _ := strings.Cut(f, " ")
		if rest, ok := strings.CutPrefix(name, "runtime."); ok {
			r, _ := utf8.DecodeRuneInString(rest)
			return !unicode.IsUpper(r)
		}
		return sampler.IsWrapper(name, "") || strings.HasPrefix(name, "internal/runtime/")
	})
}

// checkOracle compares a recording's last sample with the
// runtime's own dump, for goroutines that wait forever.
func checkOracle(t *testing.T, r *sampledata.Recording, dump string) {
	t.Helper()
	states := last(r)
	compared := 0
	for id, d := range parseDump(dump) {
		run, ok := states[id]
		if d.state == "running" || d.state == "runnable" || d.state == "sleep" {
			continue
		}
		if !ok {
			t.Errorf("goroutine %d [%s] is not in the recording", id, d.state)
			continue
		}
		// The dump doesn't show what a thread does in C. A
		// thread that computes there returns to Go now and then.
		computes := strings.HasPrefix(d.frames[0], "main._Cfunc_compute ")
		if computes && run.Run != sampledata.Detached {
			continue
		}
		compared++
		if !computes && (run.Reason != d.state || run.Run != sampledata.Waiting && run.Run != sampledata.Blocked) || run.Torn {
			t.Errorf("goroutine %d: state %v %q torn %v, want %q", id, run.Run, run.Reason, run.Torn, d.state)
		}
		got := shown(frames(r, run.Stack))
		if strings.HasPrefix(r.Header.GoVersion, "go1.21") && len(got) == len(d.frames)+1 {
			got = got[:len(d.frames)] // its wrappers are named like closures
		}
		if !slices.Equal(got, d.frames) {
			t.Errorf("goroutine %d [%s]: stack\n  %s\nwant\n  %s", id, d.state, strings.Join(got, "\n  "), strings.Join(d.frames, "\n  "))
		}
		g := r.Goroutines.At(run.Goroutine)
		site := ""
		if g.Site.Function != "" {
			site = g.Site.Function + " " + filepath.Base(g.Site.File) + ":" + strconv.Itoa(int(g.Site.Line))
		}
		if site != d.creator || g.Parent != d.parent {
			t.Errorf("goroutine %d: created by %q in %d, want %q in %d", id, site, g.Parent, d.creator, d.parent)
		}
		if t.Failed() && compared > 5 {
			return
		}
	}
	if compared == 0 {
		t.Error("no goroutine was compared")
	}
	t.Logf("%d goroutines agree with the runtime's dump", compared)
}

// every is a target with goroutines in every state. Those that
// wait do so forever.
var every = []string{"-parked=50", "-depth=40", "-threads=5", "-held=3", "-busy=2", "-pairs=2", "-lockers=0", "-short=1"}

// quiet is a target in which everything waits, so that the dump
// shows the same state as the sample.
var quiet = []string{"-parked=200", "-depth=40", "-threads=5", "-held=3"}

func TestOracle(t *testing.T) {
	v := begin(t, build(t), quiet...)
	checkOracle(t, record(t, attach(t, v), 20), v.dump())
}

// The binaries are built in the ways that people use.
func TestBinariesLong(t *testing.T) {
	fixture.LongInTurn(t, 0)
	for name, flags := range map[string][]string{
		"without DWARF": {"-ldflags=-w"},
		"stripped":      {"-ldflags=-s -w"},
		"pie":           {"-buildmode=pie"},
		"pie stripped":  {"-buildmode=pie", "-ldflags=-s -w"},
		"trimpath":      {"-trimpath"},
	} {
		t.Run(name, func(t *testing.T) {
			checkProgram(t, build(t, flags...))
		})
	}
}

// checkProgram samples a program while it works, and while
// everything in it waits.
func checkProgram(t *testing.T, path string) {
	t.Helper()
	v := begin(t, path, every...)
	checkStates(t, record(t, attach(t, v), 40), v.stuck)
	v.end()
	v = begin(t, path, quiet...)
	checkOracle(t, record(t, attach(t, v), 3), v.dump())
}
