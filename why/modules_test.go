package why

import (
	"strings"
	"testing"

	"github.com/cpprof/cpprof/sampledata"
)

// A finding in a library names the functions in which one module
// calls another. The standard library is no module, and the
// libraries that extend it are.
func TestModules(t *testing.T) {
	s := newScene()
	workers := s.spawn(4, "main.worker")
	stack := strings.Fields("main.worker main.page example.com/a/lib.Load strings.Map example.com/a/lib.read golang.org/x/net/lib.Parse golang.org/x/net/lib.scan strings.Index")
	s.samples(t, 100, func(n int) {
		s.all(workers, s.at(runs, stack[:len(stack)-n%2]...))
	})
	a := s.find(t)
	if len(a.Findings) == 0 || a.Findings[0].Where.Function != "golang.org/x/net/lib.scan" {
		t.Fatalf("found %+v", a.Findings)
	}
	if got := strings.Join(a.Findings[0].Through, " "); got != "main.page example.com/a/lib.Load example.com/a/lib.read golang.org/x/net/lib.Parse golang.org/x/net/lib.scan" {
		t.Errorf("it goes through %q", got)
	}
}

// If nearly all of a finding goes through a library, by several
// of its functions, each is named.
func TestWaysIntoALibrary(t *testing.T) {
	s := newScene()
	workers := s.spawn(2, "main.worker")
	stack := func(functions string) (at sampledata.State) {
		at, at.Stack = reads, sampledata.NoStack
		for _, name := range strings.Fields(functions) {
			file := "/" + strings.Split(name, ".")[0] + "@v1/a.go"
			if strings.HasPrefix(name, "main.") {
				file = "/main.go"
			}
			at.Stack = s.Node(sampledata.Node{Parent: at.Stack, Function: s.Function(sampledata.Function{Name: name, File: file}), Line: 7})
		}
		return at
	}
	takes, gives := stack("main.worker main.book mutex.Take redis.Do redis.read"), stack("main.worker main.book mutex.Give redis.Do redis.read")
	idle, asks := stack("main.worker"), stack("main.worker main.book mutex.Other redis.Do redis.write net.(*conn).Write")
	asks.Run, asks.Reason = sampledata.Running, ""
	s.samples(t, 100, func(n int) {
		for i, g := range workers {
			s.is[g] = []sampledata.State{takes, gives, takes, gives, asks, takes, gives, idle, takes, gives}[(n+i)%10]
		}
	})
	a := s.find(t)
	if len(a.Findings) == 0 || a.Findings[0].Where.Function != "redis.read" {
		t.Fatalf("%s: found %+v", a.State, a.Findings)
	}
	if got := strings.Join(a.Findings[0].Through, ", "); got != "main.book, mutex.Take or mutex.Give, redis.Do, redis.read" {
		t.Errorf("it goes through %q", got)
	}
}

// A package that a library calls, and that calls the library
// again, is named as another module is. One that the library
// only calls is not.
func TestMiddleware(t *testing.T) {
	s := newScene()
	worker := s.spawn(1, "main.worker")
	at := runs
	at.Stack = sampledata.NoStack
	for _, in := range []string{"/main.go", "/web@v1/web.go", "/web@v1/zip/zip.go", "/web@v1/zip/call.go", "/web@v1/zip/next.go",
		"/web@v1/route.go", "/web@v1/text/text.go", "/web@v1/text/put.go"} {
		f := s.Function(sampledata.Function{Name: "main.in" + in, File: in})
		at.Stack = s.Node(sampledata.Node{Parent: at.Stack, Function: f, Line: 7})
	}
	for range 60 {
		s.sample(t, states{worker[0]: at})
	}
	a := s.find(t)
	if len(a.Findings) == 0 {
		t.Fatal("nothing is found")
	}
	want := "main.in/main.go main.in/web@v1/web.go main.in/web@v1/zip/zip.go main.in/web@v1/zip/next.go main.in/web@v1/route.go main.in/web@v1/text/put.go"
	if got := strings.Join(a.Findings[0].Through, " "); got != want {
		t.Errorf("it goes through %q", got)
	}
}

// What the collector does goes through no module.
func TestModulesOfAllocation(t *testing.T) {
	s := newScene()
	workers := s.spawn(2, "main.worker")
	gc := s.Goroutine(sampledata.Goroutine{ID: 99, Start: s.function("runtime.gcBgMarkWorker"), GC: true})
	s.samples(t, 100, func(int) {
		s.all(workers, s.at(runs, "main.worker", "main.load", "example.com/a/lib.Read", "example.com/a/lib.grow", "runtime.mallocgc"))
		s.is[gc] = s.at(runs, "runtime.gcBgMarkWorker", "runtime.gcDrain")
	})
	for _, f := range s.find(t).Findings {
		if got := strings.Join(f.Through, " "); f.Kind == AllocationKind && got != "main.load example.com/a/lib.Read example.com/a/lib.grow" {
			t.Errorf("it goes through %q", got)
		}
	}
}

// Who calls a function of the program by way of the standard library is
// named, but not what the server of HTTP goes through.
func TestCalledByWayOfTheStandardLibrary(t *testing.T) {
	s := newScene()
	all := s.spawn(4, "net/http.(*conn).serve")
	s.samples(t, 100, func(i int) {
		s.all(all, s.at(reads, "net/http.(*conn).serve", "main.logged", "net/http.HandlerFunc.ServeHTTP", "main.handle", "main.name",
			"database/sql.(*DB).Query", "main.(*conn).Query", "net.(*conn).Read"))
		s.some(i, 10, all, s.at(runs, "net/http.(*conn).serve", "main.logged", "net/http.HandlerFunc.ServeHTTP", "main.handle"))
	})
	a := s.find(t)
	if got := strings.Join(a.Findings[0].Through, " "); got != "main.name main.(*conn).Query" {
		t.Errorf("through %q", got)
	}
}
