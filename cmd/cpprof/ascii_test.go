package main

import (
	"io"
	"os"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
)

// On a terminal without UTF-8, text is ASCII, however its writes
// cut the characters.
func TestASCII(t *testing.T) {
	in, out, err := os.Pipe()
	fixture.Check(t, err)
	w := asciiOr(out, func(name string) string { return map[string]string{"LANG": "C", "TERM": "linux"}[name] })
	for _, b := range []byte("100 % ± 2 %, 5 µs, main.…/x, \x1b[1m世\xff\n") {
		fixture.Must(w.Write([]byte{b}))(t)
	}
	out.Close()
	got, err := io.ReadAll(in)
	if want := "100 % +- 2 %, 5 us, main..../x, \x1b[1m??\n"; err != nil || string(got) != want {
		t.Errorf("%v: %q, want %q", err, got, want)
	}
	if fileOf(w) != io.Writer(out) || fileOf(out) != io.Writer(out) {
		t.Error("a launched program does not get the file")
	}
	for locale, want := range map[string]bool{"": false, "C": false, "en_US.UTF-8": true, "C.utf8": true, "de_DE.ISO-8859-1": false} {
		if got := isUTF8(func(name string) string { return map[string]string{"LC_ALL": locale}[name] }); got != want {
			t.Errorf("%q has UTF-8: %v", locale, got)
		}
	}
}

func TestWantsColor(t *testing.T) {
	for _, c := range []struct {
		terminal bool
		env      map[string]string
		want     bool
	}{
		{true, nil, true}, {false, nil, false}, {true, map[string]string{"NO_COLOR": "1"}, false}, {true, map[string]string{"TERM": "dumb"}, false},
		{false, map[string]string{"CLICOLOR_FORCE": "1"}, true}, {false, map[string]string{"CLICOLOR_FORCE": "0"}, false},
	} {
		if got := wantsColor(c.terminal, func(name string) string { return c.env[name] }); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
