package termtext

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
)

// Text from a file can't control the terminal.
func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"net/http.(*conn).serve": "net/http.(*conn).serve",
		"main.größe":             "main.größe",
		"a\x1b[31mb":             `a\x1b[31mb`,
		"a\nb\x00":               `a\x0ab\x00`,
		"a\x9bb":                 `a\x9bb`,
		"a\u202eb":               `a\u202eb`,
		"a\ufe0f\u3164":          `a\ufe0f\u3164`,
		"a\U000e0149":            `a\U000e0149`,
		"\ufffd":                 `\ufffd`,
	} {
		if got := Printable(in); got != want {
			t.Errorf("Printable(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestSprintf(t *testing.T) {
	for got, want := range map[string]string{
		Sprintf("%s\n%v|%d", "a\nb", errors.New("c\x1b"), 3):               "a\\x0ab\n" + `c\x1b|3`,
		Sprintf("%-5s|%5s|%*d", "\a", "é", 3, 7):                           `\x07 |    é|  7`,
		Sprintf("%q %x %.2f %+v", "\x1b", "\x1b", 1.0, []string{"\u009b"}): `"\x1b" 1b 1.00 [\u009b]`,
		Sprintf("%s", Text("a\x1b[m\nb")):                                  "a\x1b[m\nb",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// laidOut is an error of two lines.
type laidOut struct{}

func (laidOut) Error() string        { return "here\n^" }
func (laidOut) TerminalText() string { return "here\n^" }

// The lines of an error are those that a program has made, not
// those of a name.
func TestError(t *testing.T) {
	evil := errors.New("no a\nb")
	for want, err := range map[string]error{
		`no a\x0ab`:                   evil,
		`x\x1b: no a\x0ab`:            fmt.Errorf("x\x1b: %w", evil),
		"f: here\n^: end":             fmt.Errorf("f: %w: end", laidOut{}),
		"2: no a\\x0ab\nhere\n^":      fmt.Errorf("2: %w", errors.Join(evil, laidOut{})),
		`two no a\x0ab and no a\x0ab`: fmt.Errorf("two %w and %w", evil, evil),
		`\x0a: no a\x0ab`:             fmt.Errorf("\n: %w", evil),
	} {
		if got := Error(err); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// JSON has no character that a terminal interprets, and means
// the same as before.
func TestJSON(t *testing.T) {
	const name = "a\x7f\u009b\u202eé\U000e0001\ufffd\n"
	text := fixture.Must(json.Marshal(name))(t)
	safe := JSON(append(text, '\n'))
	var back string
	if err := json.Unmarshal(safe, &back); err != nil || back != name {
		t.Errorf("%s became %q, %v", safe, back, err)
	}
	if want := `"a\u007f\u009b\u202eé\udb40\udc01` + "\ufffd" + `\n"` + "\n"; string(safe) != want {
		t.Errorf("got %q", safe)
	}
}
