package termtext

import (
	"testing"

	"pgregory.net/rapid"
)

func TestShorten(t *testing.T) {
	const name = "go:example.com/shop/server.(*Server).accept.func1"
	for _, c := range []struct {
		name  string
		width int
		want  string
	}{
		{name, 60, name},
		{name, 34, "go:…/server.(*Server).accept.func1"},
		{name, 24, "go:…/server.(*Ser….func1"},
		{name, 12, "go:…/server…"},
		{"go:main.(*server).run.func2.gowrap1", 30, "go:main.(*serve….func2.gowrap1"},
		{"go:main.(*server).run", 12, "go:main.(*s…"},
		{"label of a row", 8, "label o…"},
		{name, 0, ""},
	} {
		if got := Shorten(c.name, c.width); got != c.want {
			t.Errorf("Shorten(%q, %d) = %q, want %q", c.name, c.width, got, c.want)
		}
	}
}

// Whatever the name, it fits.
func TestShortenFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`(go:|\.\.)?([a-z界]{1,8}/){0,3}[a-z]{1,8}(\.\(\*[A-Z][a-z]{1,9}\))?(\.[a-z]{1,9}){0,3}`).Draw(t, "name")
		width := rapid.IntRange(0, 60).Draw(t, "width")
		if got := Shorten(name, width); !Fits(got, width) {
			t.Errorf("%q is wider than %d", got, width)
		}
	})
}

// Of a struct among type arguments, the fields go first.
func TestShortenStructs(t *testing.T) {
	const name = "example.com/shop/tree.(*Map[go.shape.string,go.shape.struct { Key string; Sub struct { N int } }]).Get"
	for width, want := range map[int]string{
		200: name,
		80:  "example.com/shop/tree.(*Map[go.shape.string,go.shape.struct {…}]).Get",
		66:  "example.com/…/tree.(*Map[go.shape.string,go.shape.struct {…}]).Get",
	} {
		if got := ShortenPath(name, width); got != want {
			t.Errorf("%d: %s, want %s", width, got, want)
		}
		if got := ShortenPaths("* "+name, width+2); got != "* "+want {
			t.Errorf("%d: %s, want * %s", width, got, want)
		}
	}
	if got := FoldStructs("runs main.f[go.shape.struct {}] and main.f[go.shape.struct { Key string }]"); got != "runs main.f[go.shape.struct {}] and main.f[go.shape.struct {…}]" {
		t.Errorf("an empty struct: %q", got)
	}
	if got := FoldStructs("main.f[go.shape.5614d73739c4cb953979c5b476501cda147b86386834ff88f636587787e0f1e9,go.shape.int]"); got != "main.f[go.shape.…,go.shape.int]" {
		t.Errorf("a number that stands for a type: %q", got)
	}
	if got := FoldStructs("main.f[go.shape.struct { Key"); got != "main.f[go.shape.struct { Key" {
		t.Errorf("a name that was cut becomes %s", got)
	}
}
