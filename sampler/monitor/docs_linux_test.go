package monitor

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
)

// The manual lists every monitor, with its layer, kind, unit,
// resolution and source.
func TestManual(t *testing.T) {
	path := filepath.Join(fixture.Root(), "docs", "monitors-list.md")
	manual := fixture.Must(os.ReadFile(path))(t)
	known := map[string]bool{}
	for line := range strings.Lines(string(manual)) {
		known[strings.TrimSpace(line)] = true
	}
	var missing []string
	for _, s := range append(Builtin(), performance(perfEvents)) {
		for _, m := range s.Monitors {
			line := fmt.Sprintf("| `%s` | %s | %s | %s | %s |", m.Name, m.Kind, cmp.Or(m.Unit, "-"), cmp.Or(m.Resolution, "each sample"), m.Source)
			if !known[line] {
				missing = append(missing, line)
			}
		}
	}
	if len(missing) > 0 {
		t.Errorf("%s lacks these lines:\n%s", path, strings.Join(missing, "\n"))
	}
}
