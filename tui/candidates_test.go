package tui

import (
	"testing"

	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/tui/session"
)

// The candidates are in the details of paths that end in :WAIT,
// and nowhere else.
func TestCandidatesOfAWait(t *testing.T) {
	threshold := refine.Threshold{Hits: hits(1)}
	for path, there := range map[string]bool{
		"* ..:WAIT":                           true,
		"* main.worker ..:WAIT :chan-receive": true,
		"* main.worker runtime.chanrecv1 :WAIT :chan-receive": true,
		"* ..:chan-receive":     true,
		"* ..runtime.chanrecv1": false,
	} {
		o := Options{Path: "channels.cpprof", Recording: twin(t, "channels"), Threshold: threshold}
		o.Windows = []session.Window{&session.Profile{Class: "go:main.worker", Threshold: threshold, Steps: []refine.Step{{Kind: refine.KindPath, Text: path}}}}
		b := newBench(t, o)
		b.resize(160, 40)
		b.keys("G", "v")
		if there {
			b.shows("Goroutines that they may wait for, without cost", "    3  go:main.feed at main.read:31", "    1  go:main.feed at main.feed:22")
		} else {
			b.hides("andidates")
		}
		b.shows("1.000     3  ▾ go:main.worker")
	}
	b := bobThread(t)
	b.keys("G", "v")
	b.hides("andidates")
}
