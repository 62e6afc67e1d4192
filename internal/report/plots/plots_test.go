package plots

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/internal/metrics"
	"github.com/cpprof/cpprof/sampledata"
)

// recorded has 200 samples of a sawtooth with a gap, a constant,
// and something that was never measured.
func recorded(t *testing.T) *metrics.Table {
	b := sampledata.NewBuilder(sampledata.Header{})
	saw := b.Monitor(sampledata.Monitor{Name: "saw", Kind: sampledata.Level, Unit: "bytes"})
	flat := b.Monitor(sampledata.Monitor{Name: "flat", Kind: sampledata.Level})
	b.Monitor(sampledata.Monitor{Name: "none", Kind: sampledata.Level})
	for i := range 200 {
		v := sampledata.Number(int64(i%20) * 1024)
		if i >= 50 && i < 60 {
			v = sampledata.Value{}
		}
		b.Measure(saw, v)
		b.Measure(flat, sampledata.Number(5))
		fixture.Check(t,
			b.Sample(sampledata.Sample{Time: time.Duration(i+1) * 10 * time.Millisecond}, nil))
	}
	return metrics.New(b.Recording(), metrics.Options{})
}

func strips(t *testing.T, table *metrics.Table, runs int, exprs ...string) []Strip {
	var list []Strip
	for _, e := range exprs {
		m := fixture.Must(table.Numbers(e))(t)
		s := Strip{Name: e, Unit: m.Unit.String()}
		for range runs {
			s.Runs = append(s.Runs, NewRun("run.cpprof", table, m, metrics.All(table.Samples())))
		}
		list = append(list, s)
	}
	return list
}

// checkXML fails for text that is no SVG.
func checkXML(t *testing.T, b []byte) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(b))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestFiles(t *testing.T) {
	table := recorded(t)
	all := strips(t, table, 2, "saw", "flat", "none", "rate(saw) < 0")
	x, _ := table.Numbers("saw")
	y, _ := table.Numbers("lag(saw, 1)")
	z, _ := table.Numbers("none")
	pair := NewPair(x, y, metrics.All(200))
	selected := []*metrics.Metric{x, y, z}
	for name, write := range map[string]func(w io.Writer, file string) error{
		"strips":        func(w io.Writer, file string) error { return WriteStrips(w, file, all) },
		"one recording": func(w io.Writer, file string) error { return WriteStrips(w, file, strips(t, table, 1, "saw")) },
		"scatter":       func(w io.Writer, file string) error { return WriteScatter(w, file, pair) },
		"nothing":       func(w io.Writer, file string) error { return WriteScatter(w, file, NewPair(x, z, metrics.All(200))) },
		"matrix": func(w io.Writer, file string) error {
			return WriteMatrix(w, file, []string{"saw", "lag(saw, 1)", "none"}, func(a, b int) *Pair { return NewPair(selected[a], selected[b], metrics.All(200)) })
		},
	} {
		var svg, picture bytes.Buffer
		if err := write(&svg, "x.svg"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		checkXML(t, svg.Bytes())
		if err := write(&picture, "x.PNG"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := png.Decode(&picture); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := write(&picture, "x.gif"); err == nil || !strings.Contains(err.Error(), "ends with .svg or .png") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSegments(t *testing.T) {
	saw := strips(t, recorded(t), 1, "saw")[0].Runs[0]
	lines := saw.segments(1000)
	if len(lines) != 2 || len(lines[0]) != 50 || len(lines[1]) != 140 || lines[0][3] != (point{0.04, 3 * 1024}) {
		t.Errorf("%d lines", len(lines))
	}
	few := saw.segments(20) // 10 samples each: the gap is one of them
	if len(few) != 2 || len(few[0]) != 5 || len(few[1]) != 14 || few[0][0].value != 4.5*1024 {
		t.Errorf("%v", few)
	}
}

func TestTerminal(t *testing.T) {
	table := recorded(t)
	var b strings.Builder
	PrintStrips(&b, strips(t, table, 1, "saw", "none"), 134)
	want := "saw: 0 to 19.0 KiB, in 2 s\n"
	if !strings.HasPrefix(b.String(), want) || !strings.Contains(b.String(), "none: no value is defined") {
		t.Errorf("got\n%s", b.String())
	}
	bottom := strings.Split(b.String(), "\n")[4]
	if bars := []rune(bottom)[:100]; bars[27] != ' ' || bars[20] == ' ' || bars[40] == ' ' {
		t.Errorf("the gap is not at a quarter of %q", bottom)
	}
	x, _ := table.Numbers("saw")
	y, _ := table.Numbers("-saw")
	b.Reset()
	PrintScatter(&b, NewPair(x, y, metrics.All(200)), 60)
	lines := strings.Split(b.String(), "\n")
	if !strings.HasPrefix(b.String(), "-saw (up) with saw (right): n 190, r -1.000") || !strings.Contains(lines[2], "0 │⠁") || !strings.HasSuffix(lines[21], "⢀") && !strings.HasSuffix(lines[21], "⡀") {
		t.Errorf("got\n%s", b.String())
	}
}

// Axes have round numbers within their ends, whatever these are.
func TestTicks(t *testing.T) {
	for _, of := range []struct {
		Scale
		want []float64
	}{
		{Scale{0, 10}, []float64{0, 5, 10}}, {Scale{-.3, 1.1}, []float64{0, .5, 1}},
		{Scale{7, 7}, []float64{7}}, {Scale{-1e308, 1e308}, []float64{-1e308, 1e308}},
		{Scale{1e15, 1e15 + .125}, []float64{1e15}},
		{Scale{0, 5e-324}, []float64{0, 5e-324}}, {Scale{31, 39}, []float64{32, 34, 36, 38}},
	} {
		if got := of.ticks(4); !slices.Equal(got, of.want) {
			t.Errorf("%v: %v, want %v", of.Scale, got, of.want)
		}
	}
}

// A picture of dots that fills the memory is refused; one of
// shapes is not.
func TestLargePictures(t *testing.T) {
	names := make([]string, 40)
	none := func(int, int) *Pair { return &Pair{} }
	if err := WriteMatrix(io.Discard, "x.png", names, none); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("a picture of 185 million dots: %v", err)
	}
	if err := WriteMatrix(io.Discard, "x.svg", names, none); err != nil {
		t.Error(err)
	}
}
