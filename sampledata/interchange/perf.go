package interchange

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/cpprof/cpprof/internal/intern"
	"github.com/cpprof/cpprof/internal/memory"
	"github.com/cpprof/cpprof/sampledata"
)

// perfScript is the format that 'perf script' prints: a
// paragraph for each sample. The first line has the thread and
// the event. The other lines are the stack, the innermost
// function first.
//
//	server 4711/4712 [001] 8302.041214:     250000 cpu-clock:
//	    48a3c4 encoding/json.Marshal+0x24 (/srv/server)
//	    49b210 main.handle+0x1b0 (/srv/server)
var perfScript = Format{
	Name:  "perf",
	Title: "a file of 'perf script'",
	Lines: true,
	Sniff: isPerf,
	Read:  readPerf,
}

var (
	perfHead = regexp.MustCompile(
		`^(\S.*?)\s+(\d+)(?:/\d+)?\s+(?:\[\d+\]\s+)?(\d+\.\d+):\s+(?:(\d+)\s+)?([^\s:]+(?::[^\s:]+)*):`)
	perfFrame = regexp.MustCompile(`^\s+([0-9a-f]+)(?:\s+(.*?))?(?:\s+\((.*)\))?\s*$`)
	perfPlace = regexp.MustCompile(`\+0x[0-9a-f]+$`)
)

// isPerf reports whether the first line that is no comment
// begins a sample.
func isPerf(s Start) bool {
	for line := range bytes.Lines(s.Bytes) {
		text := strings.TrimRight(string(line), "\r\n")
		if text == "" || text[0] == '#' {
			continue
		}
		return perfHead.MatchString(text)
	}
	return false
}

// A perfReader reads samples.
type perfReader struct {
	*weighing
	events intern.List[string, int]
	of     []int // by row: its event
	label  []sampledata.Label
	event  int
	period int64
	open   bool // a sample has begun
	spaced bool // an empty line has ended a sample
}

// maxEvents limits the kinds of events. Each is a quantity.
const maxEvents = 32

func readPerf(in *Input, o Options) (*sampledata.Recording, error) {
	r := &perfReader{weighing: newWeighing(memory.NewBudget(o.MaxMemory))}
	number := 0
	if err := eachRawLine(in, "perf script", func(line string) error {
		number++
		return r.line(line)
	}); err != nil {
		return nil, err
	}
	// Samples without stacks need no empty lines between them.
	if r.open && (r.spaced || len(r.stack) > 0) {
		warnCut(r.rec, "no empty line ends its last sample")
	}
	if err := r.end(); err != nil {
		return nil, fmt.Errorf("perf script: line %d: %w", number+1, err)
	}
	if len(r.of) == 0 {
		return nil, errors.New("perf script: there are no samples")
	}
	r.values()
	return r.recording(r.events.All[0], o.Value)
}

// line reads a line.
func (r *perfReader) line(line string) error {
	line = strings.TrimRight(line, " \t\r")
	switch {
	case strings.HasPrefix(line, "#"):
		return nil
	case line == "":
		r.spaced = r.spaced || r.open
		return r.end()
	case line[0] != ' ' && line[0] != '\t':
		if err := r.end(); err != nil {
			return err
		}
		return r.begin(line)
	}
	m := perfFrame.FindStringSubmatch(line)
	if m == nil || !r.open {
		return fmt.Errorf("%.200q is no frame of a sample; expected an address, a function and a file", line)
	}
	// of assembly functions of Go, only in its table of symbols
	name := strings.TrimSuffix(perfPlace.ReplaceAllString(m[2], ""), ".abi0")
	if name == "" || name == "[unknown]" {
		name = "[" + m[3] + "]"
		if m[3] == "" {
			name = "0x" + m[1]
		}
	}
	return r.call(name)
}

// begin begins a sample with its first line.
func (r *perfReader) begin(line string) error {
	m := perfHead.FindStringSubmatch(line)
	if m == nil {
		return fmt.Errorf("%.200q begins no sample; expected a program, a thread, a time and an event, as 'perf script' prints them", line)
	}
	r.open, r.period = true, 1
	r.label = []sampledata.Label{{Key: "comm", Value: m[1]}}
	if m[4] != "" {
		var err error
		if r.period, err = strconv.ParseInt(m[4], 10, 64); err != nil {
			return fmt.Errorf("%.40q is not a period", m[4])
		}
	}
	if r.event = r.events.Number(m[5]); r.event == maxEvents {
		return fmt.Errorf("more than %d kinds of events", maxEvents)
	}
	return nil
}

// end ends the sample.
func (r *perfReader) end() error {
	if !r.open {
		return nil
	}
	r.open = false
	r.of = append(r.of, r.event)
	return r.row(r.label, r.period)
}

// values makes a quantity of each kind of event, and one of the
// number of samples.
func (r *perfReader) values() {
	p := r.rec.Profile
	for _, name := range r.events.All {
		unit := name
		if event, _, _ := strings.Cut(name, ":"); event == "cpu-clock" || event == "task-clock" {
			unit = "nanoseconds"
		}
		p.Quantities = append(p.Quantities, sampledata.Quantity{Name: name, Unit: unit, Parts: 1})
	}
	p.Quantities = append(p.Quantities,
		sampledata.Quantity{Name: "samples", Unit: "count", Parts: 1})
	n := len(p.Quantities)
	values := make([]int64, len(r.of)*n)
	for i, event := range r.of {
		values[i*n+event], values[(i+1)*n-1] = p.Values[i], 1
	}
	p.Values = values
}
