package bottlenecks

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/calltree"
)

func TestFoundReport(t *testing.T) {
	tree := samples(t, calltree.RootName, "60 main it's :RUN", "30 main f :RUN", "10 main g :RUN")
	r := Find(NewSingle(tree), FindOptions{}).Report("cpprof bottlenecks run.cpprof")
	var text strings.Builder
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	want := `Bottlenecks  Coverage Mean length
          2    90.00%         4.0

           Own      Adds  Coverage  95 % interval of Own
   1    60.00%    60.00%    60.00%  50.20% to 69.06%
       *
       main
       it's
       :RUN
     open with: echo 'select * main it'\''s :RUN' | cpprof bottlenecks run.cpprof
   2    30.00%    30.00%    90.00%  21.89% to 39.58%
       *
       main
       f
       :RUN
     open with: echo 'select * main f :RUN' | cpprof bottlenecks run.cpprof
`
	if text.String() != want {
		t.Errorf("got\n%swant\n%s", text.String(), want)
	}
	got, err := json.Marshal(r.Bottlenecks[1])
	if err != nil {
		t.Fatal(err)
	}
	wantJSON := `{"number":2,"path":["*","main","f",":RUN"],"own_percent":30.00,"additional_percent":30.00,` +
		`"coverage_percent":90.00,"interval_percent":[21.89,39.58],` +
		`"command":"echo 'select * main f :RUN' | cpprof bottlenecks run.cpprof"}`
	if string(got) != wantJSON {
		t.Errorf("got  %s\nwant %s", got, wantJSON)
	}
}

func TestFoundReportWithoutSamples(t *testing.T) {
	tree := treeOf(t, new(calltree.Symbols), []vectorNode{{-1, "root", 0}, {0, "a b", 7}})
	r := Find(NewSingle(tree), FindOptions{}).Report("open")
	if b := r.Bottlenecks; len(b) != 1 || b[0].IntervalPercent != nil || b[0].Command != `echo 'select root "a b"' | open` {
		t.Errorf("%+v", b)
	}
	if got, want := echo("select \"a\\n\""), `printf '%s\n' 'select "a\n"'`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	nothing := Find(NewComparison(tree, tree, false), FindOptions{}).Report("open")
	var text strings.Builder
	if err := nothing.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	if want := "Bottlenecks  Coverage Mean length\n          0     0.00%         0.0\n"; text.String() != want {
		t.Errorf("got\n%swant\n%s", text.String(), want)
	}
}
