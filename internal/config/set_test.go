package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/refine"
)

// A setting of a command line means what the same lines of the
// file mean, and goes before the file.
func TestSet(t *testing.T) {
	const file = "priorities: {\"go:*\": 1}\nclasses: site\nmetrics: {a: goroutines}\n"
	for setting, lines := range map[string]string{
		"aspects.queue=main.(*queue).*,!main.(*queue).len": `aspects: {queue: ["main.(*queue).*", "!main.(*queue).len"]}`,
		"priorities.go:main.flusher=2":                     `priorities: {"go:main.flusher": 2}`,
		"classes=label:route":                              "classes: label:route",
		"wrappers=pool.(*P).run,x.y":                       `wrappers: ["pool.(*P).run", x.y]`,
		"merge.io=go:*.readLoop,go:*.writeLoop":            `merge: {io: ["go:*.readLoop", "go:*.writeLoop"]}`,
		"threshold=5%":                                     "threshold: 5%",
		"accounting=single":                                "accounting: single",
		"inlines=false":                                    "inlines: false",
		"metrics.x.y=delta(a) = 1":                         "metrics: {x.y: delta(a) = 1}",
		"lists.busy=cpu.used > 1":                          "lists: {busy: cpu.used > 1}",
		"monitors=main.served,main.queue":                  "monitors: [main.served, main.queue]",
	} {
		want := fixture.Must(Parse("", []byte(lines)))(t)
		got := Default()
		if err := got.Set(setting); err != nil || content(got) != content(want) {
			t.Errorf("--set %s: %v, %+v, want %+v", setting, err, got, want)
		}
	}
	c := fixture.Must(Parse("", []byte(file)))(t)
	for _, setting := range []string{"priorities.go:main.flusher=2", "classes=function", "metrics.b=time"} {
		fixture.Check(t, c.Set(setting))
	}
	if p, _ := c.Priority("go:main.flusher"); p != 2 || c.Classes.String() != "function" || len(c.Metrics) != 2 {
		t.Errorf("got %+v", c)
	}
}

// content returns a text that differs if the configurations do.
func content(c *Config) string {
	own := *c
	own.Aspects, own.File, own.Threshold = nil, "", refine.Threshold{}
	return fmt.Sprint(describe(c.Aspects), c.Threshold.Hits, c.Threshold.Cost, own)
}

func TestSetWrong(t *testing.T) {
	for setting, want := range map[string]string{
		"classes":               "want KEY=VALUE",
		"clases=site":           `did you mean "classes"`,
		"classes=moon":          "classes: ",
		"aspects=main.x":        "want aspects.NAME=VALUE",
		"classes.x=site":        "classes has no names",
		"aspects.a b=main.x":    "a name has letters",
		"aspects.a=re:(":        "pattern",
		"merge.io=main.x":       "matches no class",
		"accounting=lunar":      "want one of observed, single, processors",
		"inlines=perhaps":       "want true or false",
		"threshold=x":           "want hits (10) or a cost",
		"priorities.go:*=often": "want a whole number",
		"lists.all=time > 1":    "means something else",
		"metrics.x=":            "want an expression",
	} {
		if err := Default().Set(setting); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("--set %q: %v, want %s", setting, err, want)
		}
	}
}
