package report

import (
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
)

// topOf returns a Top of the recording bob, of a shop's terminals.
func topOf(t *testing.T) *Top {
	t.Helper()
	r := readTwin(t, "../../../cmd/cpprof/testdata/bob.txt")
	classes := fixture.Must(views.Classes(r, views.Options{}))(t)
	server := fixture.Must(views.Server(r, views.Options{}))(t)
	s := refine.NewSession(server.Tree, calltree.NewMembership(server.Tree.Symbols(), nil, nil))
	s.Auto(s.Root().Path, 12)
	return &Top{
		Title: "bob, process 4711", Span: 5 * time.Second, Samples: 490, Halted: 50 * time.Millisecond,
		Classes: classes, Session: s, Hint: "q ends",
	}
}

var escapes = regexp.MustCompile("\x1b\\[[0-9;]*m")

// The golden file has screens of usual sizes, and the smallest
// sizes that make sense.
func TestTop(t *testing.T) {
	var text strings.Builder
	for _, size := range [][2]int{{0, 0}, {80, 24}, {100, 12}, {50, 12}} {
		top := topOf(t)
		top.Width, top.Height = size[0], size[1]
		fmt.Fprintf(&text, "=== %d x %d\n", size[0], size[1])
		text.WriteString(strings.Join(top.Lines(), "\n") + "\n")
	}
	golden(t, "top.golden", text.String())
}

// The lines fit a screen of any size, and colours don't change the text.
func TestTopFits(t *testing.T) {
	top := topOf(t)
	top.Warnings = []sampledata.Warning{{Kind: "a", Message: strings.Repeat("a long warning ", 20), Count: 3}, {Kind: "b", Message: "another", Count: 1}}
	for width := 1; width < 130; width += 3 {
		for height := 1; height < 30; height++ {
			top.Width, top.Height, top.Color = width, height, false
			plain := top.Lines()
			top.Color = true
			colored := escapes.ReplaceAllString(strings.Join(top.Lines(), "\n"), "")
			if colored != strings.Join(plain, "\n") {
				t.Fatalf("%d x %d: colours change the text:\n%s", width, height, colored)
			}
			if len(plain) > height {
				t.Fatalf("%d x %d: %d lines", width, height, len(plain))
			}
			for _, line := range plain {
				if n := utf8.RuneCountInString(line); n > width && width >= 26 {
					t.Fatalf("%d x %d: %d characters: %s", width, height, n, line)
				}
			}
		}
	}
}

// The numbers of a class whose time is all left out stand below
// their heads.
func TestTopColumnsOfAnIdleClass(t *testing.T) {
	top := topOf(t)
	for i := range top.Classes[1].Parts {
		top.Classes[1].Parts[i] = new(big.Rat)
	}
	top.Width, top.Height = 100, 30
	lines := top.Lines()
	head := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "class") })
	for _, line := range lines[head+1 : head+4] {
		if utf8.RuneCountInString(line) != utf8.RuneCountInString(lines[head]) {
			t.Errorf("the columns don't stand below their heads:\n%s\n%s", lines[head], line)
		}
	}
}

// Each key orders the classes by its column, a second time in reverse.
func TestTopOrder(t *testing.T) {
	top := topOf(t)
	first := func() string {
		for i, line := range top.Lines() {
			if strings.HasPrefix(line, "class") {
				name, _, _ := strings.Cut(top.Lines()[i+1], " ")
				return name
			}
		}
		return ""
	}
	head := func(want string) {
		t.Helper()
		if text := strings.Join(top.Lines(), "\n"); !strings.Contains(text, want) {
			t.Errorf("there is no %q:\n%s", want, text)
		}
	}
	const busy, main, worker = "go:bob.(*terminal).run", "go:main.main", "go:runtime.gcBgMarkWorker"
	for _, c := range []struct {
		key   rune
		first string
		head  string
	}{
		{'W', main, "WAIT▼"}, {'W', busy, "WAIT▲"}, {'M', busy, "MONITOR▼WAIT"}, {'A', busy, "alive▼ time "}, {'r', main, "alive▲ time "},
		{'C', busy, "class▼ "}, {'C', worker, "class▲ "}, {'B', busy, "time▼ "}, {'>', busy, "alive▼"}, {'<', busy, "time▼"}, {'<', busy, "class▼"},
	} {
		if !top.Order.Press(c.key) || first() != c.first {
			t.Errorf("after %c, %s is first", c.key, first())
		}
		head(c.head)
	}
	if top.Order.Press('z') {
		t.Error("z has a meaning")
	}
	top.Order.Press('i')
	head("  (i shows 1 more, which")
	if strings.Contains(strings.Join(top.Lines(), "\n"), worker) {
		t.Errorf("an idle class is shown: %q", top.Lines())
	}
}

// The parts of a bar add up to its length, and each differs from
// its exact part by less than one.
func TestApportion(t *testing.T) {
	third, none, all := big.NewRat(1, 3), new(big.Rat), big.NewRat(1, 1)
	for _, c := range []struct {
		shares []*big.Rat
		n      int
		want   []int
	}{
		{[]*big.Rat{third, third, third}, 10, []int{4, 3, 3}},
		{[]*big.Rat{none, all, none}, 7, []int{0, 7, 0}},
		{[]*big.Rat{big.NewRat(1, 100), big.NewRat(99, 100)}, 10, []int{0, 10}},
		{[]*big.Rat{none, none}, 10, []int{0, 0}},
	} {
		if got := Apportion(c.shares, c.n); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%v of %d: %v, want %v", c.shares, c.n, got, c.want)
		}
	}
}
