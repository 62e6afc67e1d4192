package export

import (
	"io"
	"slices"
	"time"

	"github.com/cpprof/cpprof/internal/intern"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
)

// firefox is the processed profile format of
// profiler.firefox.com: a thread for each thread class (of a
// comparison, two), and categories of typed time. The samples
// stand one behind the other, as long as they weigh: the format
// has times, but a view has none.
var firefox = Format{
	Name:  "firefox",
	Help:  "JSON for profiler.firefox.com, a thread for each class",
	File:  "run.firefox.json",
	write: writeFirefox,
}

// firefoxVersion is the version of the processed format; the profiler upgrades
// older ones.
const firefoxVersion = 48

// A firefoxCategory is a kind of samples with a colour.
type firefoxCategory struct {
	Name          string   `json:"name"`
	Color         string   `json:"color"`
	Subcategories []string `json:"subcategories"`
}

// firefoxColors are the colours of typed times.
var firefoxColors = [views.NumTypedTimes]string{views.Run: "green", views.Load: "yellow",
	views.Prio: "orange", views.Monitor: "red", views.Wait: "grey"}

func writeFirefox(w io.Writer, s *Subject) error {
	begin := func(j *jsonWriter, _ *placed) {
		j.raw(`{"meta":`)
		j.value(firefoxMeta(s))
		j.raw(`,"libs":[],"pages":[],"threads":[`)
	}
	return s.writeParts(w, begin,
		func(j *jsonWriter, p *placed, of part, i int) { j.value(firefoxThread(p, of, i)) })
}

func firefoxMeta(s *Subject) map[string]any {
	categories := []firefoxCategory{{"Other", "grey", []string{"Other"}}}
	for t := range views.NumTypedTimes {
		categories = append(categories,
			firefoxCategory{t.Name(), firefoxColors[t], []string{"Other"}})
	}
	var start time.Time
	if s.Recording != nil {
		start = s.Recording.Header.Start
	}
	return map[string]any{
		"version": 29, "preprocessedProfileVersion": firefoxVersion, "interval": 1,
		"startTime": max(0, start.UnixMilli()), "processType": 0,
		"product": s.Name(), "importedFrom": "cpprof", "stackwalk": 1, "debug": false,
		"symbolicated": true, "usesOnlyOneStackType": true,
		"categories": categories, "markerSchema": []any{},
		"sampleUnits": map[string]string{"time": "ms", "eventDelay": "ms",
			"threadCPUDelta": "ns"},
	}
}

// A firefoxFrame is a frame. Below a typed time it has no
// category of its own: the stack keeps the category of the
// goroutine itself, not of its lock's holder. A stack without a
// category takes its caller's.
type firefoxFrame struct {
	calltree.Func
	below bool
}

// A firefoxTable is a list by column.
type firefoxTable struct {
	names   []string
	columns [][]any
}

func newFirefoxTable(names ...string) *firefoxTable {
	return &firefoxTable{names, slices.Repeat([][]any{{}}, len(names))}
}

// add adds a row, and returns its number.
func (t *firefoxTable) add(row ...any) int {
	for i, value := range row {
		t.columns[i] = append(t.columns[i], value)
	}
	return t.length() - 1
}

func (t *firefoxTable) length() int { return len(t.columns[0]) }

func (t *firefoxTable) json() map[string]any {
	all := map[string]any{"length": t.length()}
	for i, name := range t.names {
		all[name] = t.columns[i]
	}
	return all
}

// A firefoxThreadMaker fills the tables of a thread.
type firefoxThreadMaker struct {
	p             *placed
	strings       intern.List[string, int]
	named         intern.List[[2]string, int] // functions, by their names and files
	known         map[firefoxFrame]firefoxRow
	frames, funcs *firefoxTable
}

// A firefoxRow is the number of a frame, and its category; nil if
// it has none.
type firefoxRow struct {
	number   int
	category any
}

// frame returns the row of a frame; root is the root of the tree.
func (m *firefoxThreadMaker) frame(f firefoxFrame, root string) firefoxRow {
	if row, ok := m.known[f]; ok {
		return row
	}
	name, file := root, ""
	var line, start int32
	depth := 0
	if f.Func != calltree.None {
		c := m.p.call(f.Func)
		name, file, line, start = c.Function.Name, c.Function.File, c.Line, c.Function.Line
		if c.Inlined {
			depth = 1
		}
	}
	fn := m.named.Number([2]string{name, file})
	if fn == m.funcs.length() {
		m.funcs.add(m.strings.Number(name), false, false, -1, m.orNull(file), numberOrNull(start), nil)
	}
	var category, subcategory any
	if t, ok := views.ParseTypedTime(name); ok && !f.below {
		category, subcategory = int(t)+1, 0
	}
	row := firefoxRow{m.frames.add(-1, depth, category, subcategory, fn, nil, 0, nil,
		numberOrNull(line), nil), category}
	m.known[f] = row
	return row
}

func (m *firefoxThreadMaker) orNull(text string) any {
	if text == "" {
		return nil
	}
	return m.strings.Number(text)
}

func numberOrNull(n int32) any {
	if n == 0 {
		return nil
	}
	return n
}

// firefoxThread returns the thread of a part. Its times are milliseconds.
func firefoxThread(p *placed, of part, number int) map[string]any {
	m := &firefoxThreadMaker{p: p, known: map[firefoxFrame]firefoxRow{},
		frames: newFirefoxTable("address", "inlineDepth", "category", "subcategory", "func",
			"nativeSymbol", "innerWindowID", "implementation", "line", "column"),
		funcs: newFirefoxTable("name", "isJS", "relevantForJS", "resource", "fileName",
			"lineNumber", "columnNumber")}
	t := p.tree
	scale := 1.0
	if of.metric.Unit == views.Nanoseconds {
		scale = 1e-6
	}
	stacks := newFirefoxTable("frame", "prefix", "category", "subcategory")
	samples := newFirefoxTable("stack", "time", "weight")
	category := make([]int, of.to-of.from)
	now := 0.0
	for n := of.from; n < of.to; n++ {
		i := n - of.from
		f := firefoxFrame{Func: calltree.None}
		if n > 0 {
			f.Func = t.Funcs()[n]
		}
		var prefix any
		if i > 0 {
			above := t.Parents()[n] - of.from
			category[i], f.below, prefix = category[above], category[above] > 0, above
		}
		frame := m.frame(f, t.Root())
		if own, ok := frame.category.(int); ok {
			category[i] = own
		}
		stacks.add(frame.number, prefix, category[i], 0)
		if own := of.metric.Own(n); own.Sign() != 0 {
			weight, _ := own.Float64()
			samples.add(i, now, weight*scale)
			now += weight * scale
		}
	}
	sampled := samples.json()
	sampled["weightType"] = "tracing-ms"
	return m.thread(of.name, number, now, stacks.json(), sampled)
}

// thread returns a thread with its tables.
func (m *firefoxThreadMaker) thread(name string, number int, end float64, stacks,
	samples map[string]any) map[string]any {
	return map[string]any{
		"name": name, "isMainThread": number == 0, "processType": "default",
		"processName": "cpprof", "pid": "0", "tid": number + 1,
		"processStartupTime": 0, "processShutdownTime": nil, "registerTime": 0,
		"unregisterTime": end, "pausedRanges": []any{},
		"stringArray": m.strings.All, "samples": samples, "stackTable": stacks,
		"markers": newFirefoxTable("category", "data", "endTime", "name", "phase",
			"startTime").json(),
		"frameTable": m.frames.json(), "funcTable": m.funcs.json(),
		"resourceTable": newFirefoxTable("lib", "name", "host", "type").json(),
		"nativeSymbols": newFirefoxTable("libIndex", "address", "name", "functionSize").json(),
	}
}
