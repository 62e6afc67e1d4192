package monitor

import (
	"cmp"
	"fmt"
	"os"
	"strings"

	"github.com/cpprof/cpprof/internal/edit"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/monitor/variable"
)

// variables returns a source of the numbers that expressions
// lead to in the program's memory. If the source is required,
// all its numbers are.
func variables(exprs []*variable.Expr, required bool) Source {
	s := Source{Required: required}
	for _, e := range exprs {
		s.Monitors = append(s.Monitors, sampledata.Monitor{
			Name: e.Text, Layer: sampledata.Application, Kind: sampledata.Level,
			Source: "the program's memory",
		})
	}
	s.Open = func(t Target) (Reader, error) { return openVariables(t, exprs, s.Monitors, required) }
	return s
}

// A variableReader reads the values of expressions.
type variableReader struct {
	process  *process
	monitors []sampledata.Monitor
	places   []int // by place: the expression
	reader   *variable.Reader
	found    []sampledata.Value
}

func openVariables(t Target, exprs []*variable.Expr, monitors []sampledata.Monitor,
	required bool) (_ Reader, err error) {
	p, err := openProcess(t)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			p.Close()
		}
	}()
	info, err := debugInfo(t, p)
	if err != nil && required {
		err = fmt.Errorf("%s: %w", exprs[0].Text, err)
	}
	if err != nil {
		return nil, err
	}
	r := &variableReader{process: p}
	var places []*variable.Place
	for i, e := range exprs {
		m := monitors[i]
		place, err := info.Resolve(e)
		switch {
		case err != nil && required:
			return nil, fmt.Errorf("%s: %w", e.Text, cmp.Or(misspelt(e.Text), err))
		case err != nil:
			// without the expression, which is the name
			m.Unmeasured, _, _ = strings.Cut(err.Error(), "\n")
		default:
			m.Source, m.Real = fmt.Sprintf("the program's memory: %s %s", e.Text, place.Type),
				place.Real
			if place.Type == "time.Duration" {
				m.Unit = "ns"
			}
			r.places, places = append(r.places, i), append(places, place)
		}
		r.monitors = append(r.monitors, m)
	}
	r.reader = variable.NewReader(places)
	return r, nil
}

// misspelt returns an error if a text that is no variable is
// like the name of a built-in monitor.
func misspelt(text string) error {
	group, _, _ := strings.Cut(text, ".")
	var known []string
	for _, s := range Builtin() {
		for _, m := range s.Monitors {
			if strings.HasPrefix(m.Name, group+".") {
				known = append(known, m.Name)
			}
		}
	}
	if near := edit.Similar(text, known); len(near) > 0 {
		return fmt.Errorf("there is no such monitor: did you mean %s?", strings.Join(near, ", or "))
	}
	return nil
}

// debugInfo reads the debug information of the target's executable.
func debugInfo(t Target, p *process) (*variable.Info, error) {
	b, err := p.binary(t)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(p.Path("exe"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return variable.Open(f, b.Bias)
}

func (r *variableReader) Monitors() []sampledata.Monitor { return r.monitors }

func (r *variableReader) Read(values []sampledata.Value) ([]sampledata.Value, error) {
	r.found = r.reader.Read(r.found[:0], r.process.ReadRanges)
	from := len(values)
	values = append(values, make([]sampledata.Value, len(r.monitors))...)
	for k, i := range r.places {
		values[from+i] = r.found[k]
	}
	return values, nil
}

func (r *variableReader) Close() error { return r.process.Close() }
