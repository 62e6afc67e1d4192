package words

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestWordsAreReadAsTheyAreWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		path := rapid.SliceOf(rapid.String()).Draw(t, "path")
		got, err := Split(Join(path))
		if err != nil || len(got) != len(path) || len(path) > 0 && !slices.Equal(got, path) {
			t.Fatalf("%q became %q, %v", path, got, err)
		}
	})
}

func TestShellWords(t *testing.T) {
	for word, want := range map[string]string{
		"run.cpprof": "run.cpprof", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "go:main.(*t).f": "'go:main.(*t).f'", "$HOME": "'$HOME'",
		"a\x1b'\\é": `$'a\033\047\134\303\251'`,
	} {
		if got := Shell(word); got != want {
			t.Errorf("Shell(%q) = %s, want %s", word, got, want)
		}
	}
}

func TestList(t *testing.T) {
	for most, want := range []string{"and 3 more", "1, and 2 more", "1, 2, 3", "1, 2, 3"} {
		if got := List([]int{1, 2, 3}, most); got != want {
			t.Errorf("at most %d: got %q, want %q", most, got, want)
		}
	}
}
