package page

import (
	"encoding/json"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/locks"
)

// sharedText is a recording in which goroutines wait for a
// channel that others likely have, and for a mutex.
const sharedText = `cpprof recording 1
function f0 main.send
function f1 main.work
node n0 f0
node n1 f1
goroutine g0 1 start=f0
goroutine g1 2 start=f1
goroutine g2 3 start=f0
holders h1 g1
sample 10ms
	g0 waiting n0 reason="chan send" lock=0x10 holders=h1 evidence=likely
	g1 running n1
	g2 blocked n0 reason=sync.Mutex.Lock lock=0x20 holders=h1 evidence=likely
sample 20ms
	g0 waiting n0 reason="chan send" lock=0x10 holders=h1 evidence=ambiguous
	g2 blocked n0 reason=sync.Mutex.Lock lock=0x20 holders=h1 evidence=inferred
sample 40ms
end duration time=50ms
`

// texts returns the recordings that the command's tests have, and one more.
func texts(t *testing.T) map[string]string {
	all := map[string]string{"shared": sharedText}
	files, err := filepath.Glob("../../cmd/cpprof/testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	for _, f := range files {
		text := fixture.Must(os.ReadFile(f))(t)
		all[filepath.Base(f)] = string(text)
	}
	return all
}

// What the page says of locks, and of who holds them, is what
// the report and its JSON say.
func TestLocksAgree(t *testing.T) {
	for name, text := range texts(t) {
		r, err := sampledata.ReadText(strings.NewReader(text))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		a := fixture.Must(locks.Analyse(r, views.Options{}, locks.ByField))(t)
		said, data := new(strings.Builder), new(strings.Builder)
		of := &report.Locks{Recording: r, Analysis: a}
		of.Write(said)
		fixture.Check(t, of.WriteJSON(data))
		table := fixture.Must(
			(&build{Page: &Page{Name: name, Recording: r}, h: &header{}}).locks())(t)
		checkAgree(t, name, said.String(), data.String(), table.(locksTable))
	}
}

// checkAgree holds a page's table of locks against the report
// and its JSON.
func checkAgree(t *testing.T, name, said, data string, table locksTable) {
	t.Helper()
	type part struct {
		Class    string
		Function string
		Hits     *big.Rat
	}
	var decoded struct {
		Locks, Shared []struct {
			Lock    string
			Waits   map[string]any
			Holders []part
			MayHold []part `json:"may_hold"`
		}
		Deadlocks []any
	}
	fixture.Check(t, json.Unmarshal([]byte(data), &decoded))
	all := append(decoded.Locks, decoded.Shared...)
	if len(all) != len(table.Locks) || len(decoded.Deadlocks) != table.Deadlocks || strings.Count(said, "DEADLOCK") != table.Deadlocks {
		t.Fatalf("%s: JSON has %d locks and %d deadlocks, the page %+v", name, len(all), len(decoded.Deadlocks), table)
	}
	same := func(parts []part, row []lockPart) bool {
		if len(parts) != len(row) {
			return false
		}
		for i, p := range parts {
			if p.Class != row[i].Class || p.Function != row[i].In || report.Hits(p.Hits) != row[i].Hits {
				return false
			}
		}
		return true
	}
	for i, l := range all {
		row := table.Locks[i]
		heading := "\n" + l.Lock + ": " + row.Type
		if row.Shared {
			heading = "\n" + l.Lock + " at "
		}
		_, about, found := strings.Cut(said, heading)
		if !found || row.Lock != l.Lock || !strings.Contains(about, "  held by ("+row.Holder+")\n") {
			t.Errorf("%s: the page says of %s that its holder is %s, the report:\n%s", name, row.Lock, row.Holder, said)
		}
		for _, kind := range []string{"recorded", "inferred", "likely", "ambiguous", "unknown"} {
			if strings.Contains(row.Holder, kind) != (l.Waits[kind] != "0") {
				t.Errorf("%s: the page says %s of %s, JSON has %v", name, row.Holder, l.Lock, l.Waits)
			}
		}
		if !same(l.Holders, row.Holders) || !same(l.MayHold, row.MayHold) {
			t.Errorf("%s: JSON has %+v, the page %+v", name, l, row)
		}
	}
}
