package report

import (
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/sampledata"
)

// TestLiveProbesFitTheScreen: no line of the live table is wider
// than the screen, and nothing of a note is lost.
func TestLiveProbesFitTheScreen(t *testing.T) {
	const function = "github.com/caddyserver/caddy/v2/modules/caddyhttp/encode.(*Encode).ServeHTTP"
	note := "taken out after 26284 calls in 2.897s, for --probe-overhead 1%: it is called at least so often"
	r := &sampledata.Recording{Probes: []sampledata.Probe{{
		Function: function, Instrument: sampledata.Uprobe, Calls: 26284, TakenOut: true, Note: note, To: 3 * time.Second, ReturnsUpTo: 3 * time.Second,
	}}}
	for _, width := range []int{80, 120} {
		var b strings.Builder
		(&Probes{Recording: r, Width: width}).WriteLive(&b)
		for line := range strings.Lines(b.String()) {
			if !termtext.Fits(strings.TrimSuffix(line, "\n"), width) {
				t.Errorf("wider than %d columns: %q", width, line)
			}
		}
		if !strings.Contains(strings.Join(strings.Fields(b.String()), " "), note) {
			t.Errorf("at %d columns, the note is cut:\n%s", width, b.String())
		}
		if width == 120 && !strings.Contains(b.String(), "\n"+function+"\n") {
			t.Errorf("the name is not there in full:\n%s", b.String())
		}
	}
}
