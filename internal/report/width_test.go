package report

import (
	"math/big"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/refine/hotspots"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
	"github.com/cpprof/cpprof/views/locks"
)

// On a screen, long import paths are shortened so that lines
// fit, and the last element of a path stays.
func TestNamesFitTheWidth(t *testing.T) {
	const long = "github.com/somebody/some-project/v2/internal/deeply/nested/package/handlers"
	r := readTwin(t, "../../../cmd/cpprof/testdata/bob.txt")
	for i := range r.Functions {
		r.Functions[i].Name = strings.Replace(r.Functions[i].Name, "bob.", long+".", 1)
	}
	classes := fixture.Must(views.Classes(r, views.Options{}))(t)
	v := fixture.Must(views.ThreadMaker("terminal).run")(r, views.Options{}))(t)
	session := refine.NewSession(v.Tree, calltree.NewMembership(v.Tree.Symbols(), nil, nil))
	session.SetThreshold(refine.Threshold{Hits: big.NewRat(1, 1)})
	session.Auto(session.Root().Path, FewSteps)
	waits := fixture.Must(locks.Analyse(r, views.Options{}, locks.ByField))(t)
	path := fixture.Must(
		callpath.Parse("* .." + long + ".(*terminal).run .." + long + ".(*manager).transact"))(t)
	for _, write := range []func(b *strings.Builder, width int){
		func(b *strings.Builder, width int) { (&Classes{Recording: r, List: classes, Width: width}).Write(b) },
		func(b *strings.Builder, width int) {
			(&ClassesCompared{Pairs: views.PairClasses(classes, classes), Width: width}).Write(b)
		},
		func(b *strings.Builder, width int) {
			(&Profile{Session: session, Title: "Thread View", Width: width}).Write(b)
		},
		func(b *strings.Builder, width int) { (&Locks{r, waits, 0, width}).Write(b) },
		func(b *strings.Builder, width int) {
			costs := &Costs{Title: "Thread View", Metric: v.Tree.Main(), Width: width}
			costs.Add(path, callpath.Total(v.Tree, session.Membership(), path))
			costs.Write(b)
		},
		func(b *strings.Builder, width int) { WriteXTree(b, v.Tree, XOptions{Width: width}) },
		func(b *strings.Builder, width int) { WriteXProf(b, v.Tree, XOptions{Width: width}) },
		func(b *strings.Builder, width int) { WriteXArc(b, v.Tree, XOptions{Width: width}) },
		func(b *strings.Builder, width int) {
			found := NewFound(hotspots.Find(hotspots.NewSingle(v.Tree), hotspots.FindOptions{}), "", Basis{})
			found.Width = width
			found.Write(b)
		},
	} {
		var full, short strings.Builder
		write(&full, 0)
		write(&short, 100)
		if !strings.Contains(full.String(), long+".(*terminal).run") || !strings.Contains(short.String(), "…/handlers.(*terminal).run") {
			t.Errorf("full:\n%s\nshortened:\n%s", full.String(), short.String())
		}
		for line := range strings.Lines(short.String()) {
			if utf8.RuneCountInString(line) > 101 && !strings.Contains(line, "open with: ") { // commands have full names
				t.Errorf("a line has %d characters: %s", utf8.RuneCountInString(line), line)
			}
		}
	}
}
