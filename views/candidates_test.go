package views

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
)

// A worker waits to receive from either of two goroutines.
func TestCandidates(t *testing.T) {
	f := fixture.Must(os.Open(filepath.Join(fixture.Root(), "cmd", "cpprof", "testdata", "channels.txt")))(t)
	defer f.Close()
	r := fixture.Must(sampledata.ReadText(f))(t)
	fixture.Check(t, r.Check())
	for _, c := range []struct {
		class string
		span  Span
		want  map[string]string // hits by frames
	}{
		{"go:main.worker", Span{}, map[string]string{"main.read:31": "3", "main.feed:22": "1"}},
		{"go:main.worker", Span{From: 100e6}, map[string]string{"main.read:31": "1", "main.feed:22": "1"}},
		{"go:main.feed", Span{}, nil},
	} {
		tree := fixture.Must(Candidates(r, c.class, Options{Span: c.span}))(t)
		fixture.Check(t, tree.Check())
		for n := range int32(tree.Len()) {
			own := tree.Main().Own(n)
			if own.Sign() == 0 {
				continue
			}
			frames := strings.Join(tree.Frames(n), " ")
			head, place, _ := strings.Cut(frames, " :WAIT :chan-receive go:main.feed ")
			if !strings.HasSuffix(head, "main.worker runtime.chanrecv1") || c.want[place] != own.RatString() {
				t.Errorf("%s %v: %s hits at %s", c.class, c.span, own.RatString(), frames)
			}
			delete(c.want, place)
		}
		if len(c.want) > 0 {
			t.Errorf("%s %v: nothing at %v", c.class, c.span, c.want)
		}
	}
}

// Hosts of libraries may begin as packages of the standard library do.
func TestIsOwn(t *testing.T) {
	for function, want := range map[string]bool{
		"main.handle": true, "example.com/a/b.(*T).f": true, "go.uber.org/ratelimit.(*limiter).Take": true,
		"go.opentelemetry.io/otel/sdk/trace.(*batchSpanProcessor).ForceFlush": true, "gopkg.in/mgo%2ev2.(*Query).One": true,
		"golang.org/x/net/html.Parse": true, "main.sorted[go.shape.int].func1": true,
		"go/ast.Walk": false, "net/http.(*Client).Do": false, "strings.Index": false, "os.(*File).Write": false,
		"slices.SortFunc[go.shape.[]example.com/a.T,go.shape.int]": false, "golang.org/x/sys/unix.Fsync": false, "": false,
	} {
		if got := IsOwn(function); got != want {
			t.Errorf("%s is own: %t", function, got)
		}
	}
}

// What programs call the runtime for, and pay for, is not its machinery.
func TestMachinery(t *testing.T) {
	for name, want := range map[string]bool{"runtime.Caller": false, "runtime.ReadMemStats": false, "runtime.mallocgc": true,
		"runtime.Gosched": true, "sync.(*Mutex).Lock": true, "reflect.rselect": true, "main.runtime.Caller": false} {
		if got := Machinery(name); got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
