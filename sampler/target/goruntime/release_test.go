package goruntime

import "testing"

func TestParseRelease(t *testing.T) {
	for _, c := range []struct {
		in    string
		want  Release
		exact bool
	}{
		{"go1.26.8", Release{26, 8}, true},
		{"go1.21.0", Release{21, 0}, true},
		{"go1.22", Release{22, 0}, false},
		{"go1.26rc1", Release{26, 0}, false},
		{"devel go1.27-3f2a1b9c Mon Nov 2 10:00:00 2026 +0000", Release{27, 0}, false},
		{"go1.25.3 X:nogreenteagc", Release{25, 3}, false},
		{"go1.24.6 (vendor 1.24.6-1.el9)", Release{24, 6}, false},
	} {
		if got, exact, err := ParseRelease(c.in); got != c.want || exact != c.exact || err != nil {
			t.Errorf("%q: got %v, %v, %v; want %v, %v", c.in, got, exact, err, c.want, c.exact)
		}
	}
	for _, bad := range []string{"", "unknown", "go2.1", "go1.x"} {
		if r, _, err := ParseRelease(bad); err == nil {
			t.Errorf("%q: got %v, want an error", bad, r)
		}
	}
}
