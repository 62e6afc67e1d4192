package picture

import (
	"encoding/xml"
	"io"
	"slices"
	"strings"
	"testing"
)

// drawn returns the elements of an SVG, as their names and a few attributes, and its texts.
func drawn(t *testing.T, svg string) (elements []string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := d.Token()
		if err == io.EOF {
			return elements
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			said := e.Name.Local
			for _, a := range e.Attr {
				if slices.Contains([]string{"x", "y", "fill", "fill-opacity", "font-weight"}, a.Name.Local) {
					said += " " + a.Name.Local + "=" + a.Value
				}
			}
			elements = append(elements, said)
		case xml.CharData:
			if text := strings.TrimSpace(string(e)); text != "" {
				elements = append(elements, text)
			}
		}
	}
}

func TestWrite(t *testing.T) {
	red := Style{Fore: "#ff0000"}
	screen := [][]Cell{
		{{'a', Style{Bold: true}}, {'<', Style{Bold: true}}, {'█', red}, {'█', red}},
		{{' ', Style{}}, {'b', Style{}}, {'▂', Style{Back: "#00ff00"}}, {'x', Style{Reverse: true, Dim: true}}},
	}
	var b strings.Builder
	if err := Write(&b, screen, "A & B"); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"svg", "title", "A & B", "rect fill=" + ownBack, "g",
		"text x=12.0 y=25.5 fill=" + ownFore + " font-weight=bold", "a<",
		"rect x=28.8 y=12.00 fill=#ff0000",
		"text x=20.4 y=43.5 fill=" + ownFore, "b",
		"rect x=28.8 y=30.00 fill=#00ff00", "rect x=28.8 y=43.50 fill=" + ownFore,
		"rect x=37.2 y=30.00 fill=" + ownFore, "text x=37.2 y=43.5 fill=" + ownBack + " fill-opacity=0.65", "x",
	}
	if got := drawn(t, b.String()); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
