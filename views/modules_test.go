package views

import (
	"strings"
	"testing"

	"github.com/cpprof/cpprof/sampledata"
)

// TestLibraryCalls checks what a goroutine does that waits in a
// library, comes back there again and again, and was seen
// nowhere else: by the name of the function that was called, it
// waits for work or does something. "lib/" and "dep/" are
// libraries.
func TestLibraryCalls(t *testing.T) {
	for stack, want := range map[string]bool{
		"main.main.func1 lib/kafka.(*Writer).WriteMessages":                             false,
		"main.main.func1 main.send lib/sftp.(*File).Write lib/sftp.(*conn).receive":     false, // an answer
		"main.main.func1 lib/sftp.(*File).ReadFrom":                                     false,
		"main.main.func1 lib/retry.(*Client).Do":                                        false, // it backs off
		"main.main.func1 lib/kafka.(*Reader).FetchMessage lib/kafka.(*queue).take":      true,
		"main.main.func1 lib/redis.cmdable.BLPop lib/redis.(*Client).process":           true,
		"main.main.func1 lib/stats.(*Table).Spread":                                     false,
		"main.main.func1 lib/cron.(*Cron).Run":                                          true,
		"main.main.func1 lib/wait.UntilWithContext lib/wait.backoff":                    true,
		"main.main.func1 lib/dns.(*Server).ActivateAndServe":                            true,
		"main.main.func1 lib/pool.Each[go.shape.struct { Run int }]":                    false,
		"main.main.func1 lib/queue.(*Typed[go.shape.int]).Get":                          true,
		"lib/kafka.(*Writer).spawn.func1 lib/kafka.(*Writer).awaitBatch":                true, // its own goroutine
		"lib/group.(*Group).Go.func1 main.publish":                                      true, // it is called back
		"lib/group.(*Group).Go.func1 main.publish.func1 lib/kafka.(*Writer).Write":      false,
		"main.main.func1 main.publish":                                                  true, // no library
		"main.main.func1 lib/vault.(*Client).Watch dep/retry.(*Client).Do":              false,
		"main.main.func1 lib/vault.(*Client).Renew dep/queue.(*Queue).Get":              true,
		"main.main.func1 lib/queue.(*Queue).Put strings.Map lib/queue.(*Queue).waiting": false, // std calls back
	} {
		s := newSketch(t)
		g := s.goroutine("f")
		at := stackOf(s.Builder, bootstrap)
		for _, name := range strings.Fields(strings.ReplaceAll(stack, "struct { Run int }", "struct{Run_int}")) {
			file := "/src/" + name[:strings.IndexByte(name, '.')] + "@v1.2.0/a.go"
			if strings.HasPrefix(name, "main.") {
				file = "/home/main.go"
			}
			at = s.Node(sampledata.Node{Parent: at, Function: s.Function(sampledata.Function{Name: strings.ReplaceAll(name, "lib/", "example.com/lib/"), File: file})})
		}
		for range 4 {
			s.sample(map[sampledata.GoroutineID]sampledata.State{g: {Stack: at, Run: sampledata.Waiting, Reason: "select"}})
			s.sample(map[sampledata.GoroutineID]sampledata.State{g: {Stack: at, Run: sampledata.Running}})
		}
		r := s.Recording()
		work, answer := WaitsFor(r, idleOptions())
		if got := work(r.Runs.At(0)); got != want || answer(r.Runs.At(0)) == want {
			t.Errorf("%s: idle: %v, want %v; an answer: %v", stack, got, want, answer(r.Runs.At(0)))
		}
	}
}

func TestLastName(t *testing.T) {
	for function, want := range map[string]string{
		"example.com/lib.(*Queue[int]).Get": "Get", "example.com/lib.Get[a.b]": "Get", "main.main": "main",
		"main.main.func2": "func2", "main.main.func2.1": "func2", "main.(*server).run.func1.2.3": "func1", "main.serve-range1": "serve-range1",
	} {
		if got := LastName(function); got != want {
			t.Errorf("%s: %q, want %q", function, got, want)
		}
	}
}
