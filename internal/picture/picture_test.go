package main

import (
	"encoding/xml"
	"io"
	"slices"
	"strings"
	"testing"
)

func TestReadScreen(t *testing.T) {
	const text = "\x1b[1ma\x1b[0;38;2;255;0;16m█\n" + // a style lasts beyond the end of a line
		"b\x1b[7;48;2;1;2;3m \x1b[39;49mé\n"
	screen, err := readScreen(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	red := style{fore: "#ff0010"}
	want := [][]cell{
		{{'a', style{bold: true}}, {'█', red}},
		{{'b', red}, {' ', style{fore: "#ff0010", back: "#010203", reverse: true}}, {'é', style{reverse: true}}},
	}
	if !slices.EqualFunc(screen, want, slices.Equal) {
		t.Errorf("got %v, want %v", screen, want)
	}
	for _, wrong := range []string{"\x1b[4mx", "\x1b[38;5;7mx", "\x1b[38;2;1;2mx", "\x1b[38;2;1;2;256mx", "\x1b[1"} {
		if _, err := readScreen(strings.NewReader(wrong)); err == nil {
			t.Errorf("%q: no error", wrong)
		}
	}
}

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

func TestWriteSVG(t *testing.T) {
	red := style{fore: "#ff0000"}
	screen := [][]cell{
		{{'a', style{bold: true}}, {'<', style{bold: true}}, {'█', red}, {'█', red}},
		{{' ', style{}}, {'b', style{}}, {'▂', style{back: "#00ff00"}}, {'x', style{reverse: true, dim: true}}},
	}
	var b strings.Builder
	if err := writeSVG(&b, screen, "A & B"); err != nil {
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
