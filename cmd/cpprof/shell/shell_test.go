package shell

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/refine/hotspots"
	"github.com/cpprof/cpprof/views/calltree"
)

// memory holds the files of a shell.
type memory map[string]*bytes.Buffer

func (m memory) attach(s *Shell) *Shell {
	s.Open = func(name string) (io.ReadCloser, error) {
		b, ok := m[name]
		if !ok {
			return nil, fs.ErrNotExist
		}
		return io.NopCloser(bytes.NewReader(b.Bytes())), nil
	}
	s.Create = func(name string) (io.WriteCloser, error) {
		m[name] = new(bytes.Buffer)
		return nopWriteCloser{m[name]}, nil
	}
	return s
}

type nopWriteCloser struct{ io.Writer }

func (nopWriteCloser) Close() error { return nil }

// run executes lines and writes them with their output, as a
// terminal would show it.
func run(s *Shell, script string) string {
	var out strings.Builder
	for line := range strings.Lines(script) {
		line = strings.TrimSuffix(line, "\n")
		text, err := s.Exec(line)
		fmt.Fprintf(&out, "> %s\n%s", line, text)
		if err != nil {
			fmt.Fprintf(&out, "error: %v\n", err)
		}
	}
	return out.String()
}

// On a narrow screen, listings have short import paths, and
// select says the whole name.
func TestNamesFitTheScreen(t *testing.T) {
	s := New(hotspots.NewSingle(samples(t, "3 main example.com/some/long/path.call", "1 main other")))
	s.Width = 50
	if out := run(s, "suggest\n"); !strings.Contains(out, "  example.com/…/path.call") {
		t.Errorf("on 50 columns:\n%s", out)
	}
	if out := run(s, "select 0\n"); !strings.Contains(out, "path     example.com/some/long/path.call\n") {
		t.Errorf("on 50 columns:\n%s", out)
	}
	s.Width = 0
	if out := run(s, "suggest\n"); !strings.Contains(out, "  example.com/some/long/path.call") {
		t.Errorf("without a screen:\n%s", out)
	}
}

// session returns a tree with a bottleneck that takes several
// steps to find, some recursion, and a name with a blank.
func session(t testing.TB) *hotspots.Trees {
	return hotspots.NewSingle(samples(t,
		"20 main serve check authorize", "5 main serve check authorize", "30 main render", "10 main render",
		"8 main serve log write", "7 main admin log write", "2 main visit visit visit", "18 main serve"))
}

const sessionScript = `set suggester HighBase
set limit 3
suggest
select 1
zoom on
select 0
label bottleneck
zoom off
select main serve
back
select log
label "two callers"
select 0
labels
overlap
save labels
labels
select 1
unlabel
labels
set suggester Recursive
suggest
select 0
`

// sessionOutput is sessionScript with its output, as a terminal shows it.
const sessionOutput = `> set suggester HighBase
> set limit 3
> suggest
           Cum       Own  Path
   0    40.00%    40.00%  render
   1    25.00%    25.00%  authorize
   2    51.00%    18.00%  serve
     and 7 more; "set limit 0" shows all
> select 1
cum      25.00% (25 samples)
base     25.00% (25 samples)
own      25.00% (25 samples)
path     authorize
           Cum      Base  Nearby
   0    25.00%    25.00%  top check
> zoom on
           Cum      Base  Nearby
   0    43.00%    43.00%  top * main serve check
> select 0
cum      43.00% (43 samples)
base     43.00% (43 samples)
own      25.00% (25 samples)
path     * main serve check authorize
           Cum      Base  Nearby
   0    25.00%    25.00%  without top * main serve
   1    51.00%    18.00%  without bottom check authorize
> label bottleneck
> zoom off
           Cum      Base  Nearby
   0    43.00%    43.00%  without top *
   1    43.00%    18.00%  without bottom authorize
> select main serve
cum      51.00% (51 samples)
base     18.00% (18 samples)
own      18.00% (18 samples)
overlap  cum 43.00%, base 18.00% with bottleneck
path     main serve
           Cum      Base  Nearby
   0    51.00%    18.00%  top *
   1    43.00%    18.00%  bottom check
   2    26.00%    18.00%  bottom log
   3    51.00%    18.00%  without top main
   4   100.00%     0.00%  without bottom serve
> back
labels   bottleneck
cum      43.00% (43 samples)
base     43.00% (43 samples)
own      25.00% (25 samples)
overlap  cum 43.00%, base 43.00% with bottleneck
path     * main serve check authorize
           Cum      Base  Nearby
   0    43.00%    43.00%  without top *
   1    43.00%    18.00%  without bottom authorize
> select log
cum      15.00% (15 samples)
base     0.00% (0 samples)
own      0.00% (0 samples)
overlap  cum 0.00%, base 0.00% with bottleneck
path     log
           Cum      Base  Nearby
   0    26.00%    18.00%  top serve
   1    15.00%    15.00%  bottom write
   2     7.00%     0.00%  top admin
> label "two callers"
> select 0
cum      26.00% (26 samples)
base     18.00% (18 samples)
own      0.00% (0 samples)
overlap  cum 18.00%, base 18.00% with bottleneck
overlap  cum 8.00%, base 0.00% with "two callers"
path     serve log
           Cum      Base  Nearby
   0    26.00%    18.00%  top main
   1    26.00%    26.00%  bottom write
   2    15.00%     0.00%  without top serve
   3    51.00%    18.00%  without bottom log
> labels
           Cum      Base  Label and path
   0    43.00%    43.00%  bottleneck: * main serve check authorize
   1    15.00%     0.00%  "two callers": log
> overlap
           Cum      Adds   Overlap  Label and path
   0    43.00%    43.00%     0.00%  bottleneck: * main serve check authorize
   1    15.00%    15.00%     0.00%  "two callers": log
total    cum 58.00% (58 samples), base 43.00% (43 samples)
> save labels
2 labels saved
> labels
           Cum      Base  Label and path
   0    43.00%    43.00%  bottleneck: * main serve check authorize
   1    15.00%     0.00%  "two callers": log
> select 1
labels   "two callers"
cum      15.00% (15 samples)
base     0.00% (0 samples)
own      0.00% (0 samples)
overlap  cum 0.00%, base 0.00% with bottleneck
overlap  cum 15.00%, base 0.00% with "two callers"
path     log
           Cum      Base  Nearby
   0    26.00%    18.00%  top serve
   1    15.00%    15.00%  bottom write
   2     7.00%     0.00%  top admin
> unlabel
> labels
           Cum      Base  Label and path
   0    43.00%    43.00%  bottleneck: * main serve check authorize
> set suggester Recursive
> suggest
           Cum       Own  Path
   0     2.00%     2.00%  visit visit
> select 0
cum      2.00% (2 samples)
base     2.00% (2 samples)
own      2.00% (2 samples)
overlap  cum 0.00%, base 0.00% with bottleneck
path     visit visit
           Cum      Base  Nearby
   0     2.00%     0.00%  top main
   1     2.00%     2.00%  top visit
   2     2.00%     2.00%  bottom visit
   3     2.00%     2.00%  without top visit
   4     2.00%     2.00%  without bottom visit
`

func TestShellSession(t *testing.T) {
	files := memory{}
	got := run(files.attach(New(session(t))), sessionScript)
	if got != sessionOutput {
		t.Errorf("got\n%s\nwant\n%s", got, sessionOutput)
	}
}

func TestShellErrors(t *testing.T) {
	for line, want := range map[string]string{
		"jump":                    `unknown command "jump"; "help" lists the commands`,
		"select":                  "select needs an argument: select N | NAME ...",
		"select 0":                `nothing is listed yet; "suggest" lists functions to start with`,
		"select nowhere":          "no call sequence nowhere in this profile",
		"suggest now":             "suggest takes nothing after it",
		"set color red":           `there is no setting "color"; there are suggester, cutoff and limit`,
		"set cutoff 1e99999999":   `cutoff "1e99999999": want a share such as 5% or 0.05, from 0 to 100%`,
		"set cutoff 0":            `cutoff "0": want a share above 0, such as 95% or 0.95`,
		"set cutoff 150 %":        `cutoff "150 %": a share is 100% at most; want one such as 5% or 0.05`,
		"set cutoff 95 %":         "<nil>",
		"set limit -1":            `"-1" is not a number of summaries`,
		"set suggester Best":      `no suggester "Best": choose one of HighBase, HighCum, Typed :MONITOR, Recursive, Change`,
		"set suggester Typed f":   `no suggester "Typed f": choose one of HighBase, HighCum, Typed :MONITOR, Recursive, Change`,
		"label x":                 `no summary is selected; "suggest" lists summaries, "select N" selects one`,
		"unlabel":                 `no summary is selected; "suggest" lists summaries, "select N" selects one`,
		"back":                    "no summary was selected before",
		"zoom in":                 "zoom can be on or off",
		"load nothing":            "loading labels: file does not exist",
		"load wrong":              `loading labels: wrong: the first line is not "cpprof labels 1"`,
		"load short":              "loading labels: short: line 3: no call sequence after the label",
		`select "main`:            `unfinished or wrong quotes at "main`,
		"load many":               "loading labels: many: line 10002: more than 10000 labels",
		"quit":                    "EOF",
		"# select nowhere at all": "<nil>",
	} {
		files := memory{"wrong": bytes.NewBufferString("labels\n"), "short": bytes.NewBufferString(labelsHeader + "\n\nx\n"),
			"many": bytes.NewBufferString(labelsHeader + "\n" + strings.Repeat("x nowhere\n", maxLabels+1))}
		_, err := files.attach(New(session(t))).Exec(line)
		if got := fmt.Sprint(err); got != want {
			t.Errorf("%s: error %s, want %s", line, got, want)
		}
	}
}

func TestShellSavesWhatItLoads(t *testing.T) {
	files := memory{}
	s := files.attach(New(session(t)))
	run(s, "select main render\nlabel a\nlabel \"b c\"\nselect log write\nlabel a\nlabel a\nsave one")
	again := files.attach(New(session(t)))
	if got, want := run(again, "load one\nsave two"), "> load one\n3 labels loaded\n> save two\n3 labels saved\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if one, two := files["one"].String(), files["two"].String(); one != two || !strings.Contains(one, `"b c" main render`) {
		t.Errorf("saved\n%s, and then\n%s", one, two)
	}
	files["other"] = bytes.NewBufferString(labelsHeader + "\nx gone away\n")
	if got, want := run(again, "load other"), "> load other\n1 label loaded\nnot in this profile: x: gone away\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestShellCompletes(t *testing.T) {
	s := New(session(t))
	run(s, "select render\nlabel slow\nlabel \"very slow\"")
	for line, want := range map[string][]string{
		"":                      {"back", "help", "label", "labels", "load", "next", "overlap", "quit", "save", "select", "set", "suggest", "unlabel", "zoom"},
		"la":                    {"label", "labels"},
		"zoom o":                {"off", "on"},
		"zoom on ":              nil,
		"set s":                 {"suggester"},
		"set suggester H":       {"HighBase", "HighCum"},
		"set suggester Typed :": nil,
		"select re":             {"render"},
		"select main r":         {"render"},
		"select nowhere ":       nil,
		"unlabel ":              {`"very slow"`, "slow"},
		`select "x `:            nil,
		"jump ":                 nil,
	} {
		if got := s.Complete(line); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

func FuzzShell(f *testing.F) {
	f.Add("suggest\nselect 0\nselect 0\nlabel x\noverlap\n")
	f.Add("zoom on\nset suggester Recursive\nsuggest\nselect 0\nback\nlabels\nsave f\nload f\n")
	f.Add("select \"main\" serve\nset cutoff 0.5\nset suggester Typed :RUN\nsuggest\nunlabel x\n")
	f.Add(labelsHeader + "\nx main serve\n\"y z\" nowhere\n")
	f.Fuzz(func(t *testing.T, script string) {
		files := memory{"f": bytes.NewBufferString(script)}
		s := files.attach(New(session(t)))
		for line := range strings.Lines("load f\n" + script) {
			s.Complete(line)
			if _, err := s.Exec(line); errors.Is(err, io.EOF) {
				return
			}
		}
	})
}

func TestShellOfAComparison(t *testing.T) {
	p := hotspots.NewComparison(samples(t, "30 main f", "10 main g"), samples(t, "5 main f", "15 main g"), true)
	got := run(New(p), "set suggester Change\nset limit 2\nsuggest\nselect 1\n")
	want := `> set suggester Change
> set limit 2
> suggest
           Cum       Own  Path
   0    50.00%    50.00%  f
   1   -50.00%   -50.00%  g
     and 2 more; "set limit 0" shows all
> select 1
cum      -50.00%
base     -50.00%
own      -50.00%
path     g
           Cum      Base  Nearby
   0   -50.00%   -50.00%  top main
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// samples builds a tree from lines such as "12 main f"; the
// calls are below the root.
func samples(t testing.TB, lines ...string) *calltree.Tree {
	t.Helper()
	b := calltree.NewBuilder(new(calltree.Symbols), calltree.RootName, "time", "samples")
	for _, line := range lines {
		hits := fixture.Must(strconv.ParseInt(strings.Fields(line)[0], 10, 64))(t)
		b.Add(0, b.Stack(strings.Fields(line)[1:]...), hits, 1)
	}
	return fixture.Must(b.Tree())(t)
}
