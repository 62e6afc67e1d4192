package caret

import "testing"

func TestUnder(t *testing.T) {
	for _, c := range []struct {
		line   string
		offset int
		want   string
	}{
		{"abc", 0, "    abc\n    ^"},
		{"abc", 2, "    abc\n      ^"},
		{"abc", 3, "    abc\n       ^"},
		{"", 0, "    \n    ^"},
		{"äöc", 4, "    äöc\n      ^"}, // two characters of two bytes each
		{"\ta: b", 4, "     a: b\n        ^"},
		{"a\x1bb", 2, "    a\\x1bb\n         ^"},
	} {
		if got := Under(c.line, c.offset); got != c.want {
			t.Errorf("Under(%q, %d) = %q, want %q", c.line, c.offset, got, c.want)
		}
	}
}
