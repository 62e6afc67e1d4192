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

// A firefoxThreadMaker fills the tables of a thread, which are
// lists by column.
type firefoxThreadMaker struct {
	p       *placed
	strings intern.List[string, int]
	funcs   intern.List[[2]string, int] // the names and the files
	frames  map[firefoxFrame]int

	funcName, funcFile, funcLine []any
	frameFunc, frameLine         []any
	frameDepth                   []any
	frameCategory                []any
	frameSubcategory             []any
}

// frame returns the number of a frame; root is the root of the tree.
func (m *firefoxThreadMaker) frame(f firefoxFrame, root string) int {
	if i, ok := m.frames[f]; ok {
		return i
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
	fn := m.funcs.Number([2]string{name, file})
	if fn == len(m.funcName) {
		m.funcName, m.funcFile, m.funcLine = append(m.funcName, m.strings.Number(name)),
			append(m.funcFile, m.orNull(file)), append(m.funcLine, numberOrNull(start))
	}
	i := len(m.frames)
	m.frames[f] = i
	m.frameFunc, m.frameLine, m.frameDepth = append(m.frameFunc, fn),
		append(m.frameLine, numberOrNull(line)), append(m.frameDepth, depth)
	var category, subcategory any
	if t, ok := views.ParseTypedTime(name); ok && !f.below {
		category, subcategory = int(t)+1, 0
	}
	m.frameCategory, m.frameSubcategory = append(m.frameCategory, category),
		append(m.frameSubcategory, subcategory)
	return i
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
	m := &firefoxThreadMaker{p: p, frames: map[firefoxFrame]int{}}
	t := p.tree
	scale := 1.0
	if of.metric.Unit == views.Nanoseconds {
		scale = 1e-6
	}
	var stackFrame, stackPrefix, stackCategory, sampleStack, sampleTime, weights []any
	category := make([]int, of.to-of.from)
	now := 0.0
	for n := of.from; n < of.to; n++ {
		i := n - of.from
		f := firefoxFrame{Func: calltree.None}
		if n > 0 {
			f.Func = t.Funcs()[n]
		}
		if i == 0 {
			stackPrefix = append(stackPrefix, nil)
		} else {
			above := t.Parents()[n] - of.from
			stackPrefix = append(stackPrefix, above)
			category[i], f.below = category[above], category[above] > 0
		}
		frame := m.frame(f, t.Root())
		if own, ok := m.frameCategory[frame].(int); ok {
			category[i] = own
		}
		stackFrame, stackCategory = append(stackFrame, frame), append(stackCategory, category[i])
		if own := of.metric.Own(n); own.Sign() != 0 {
			weight, _ := own.Float64()
			sampleStack, sampleTime, weights = append(sampleStack, i), append(sampleTime, now),
				append(weights, weight*scale)
			now += weight * scale
		}
	}
	return m.thread(of.name, number, now, map[string]any{
		"length": len(stackFrame), "frame": list(stackFrame), "prefix": list(stackPrefix),
		"category": list(stackCategory), "subcategory": zeros(len(stackFrame)),
	}, map[string]any{
		"length": len(sampleStack), "stack": list(sampleStack), "time": list(sampleTime),
		"weight": list(weights), "weightType": "tracing-ms",
	})
}

// thread returns a thread with its tables.
func (m *firefoxThreadMaker) thread(name string, number int, end float64, stacks,
	samples map[string]any) map[string]any {
	frames, funcs := len(m.frames), len(m.funcs.All)
	return map[string]any{
		"name": name, "isMainThread": number == 0, "processType": "default",
		"processName": "cpprof", "pid": "0", "tid": number + 1,
		"processStartupTime": 0, "processShutdownTime": nil, "registerTime": 0,
		"unregisterTime": end, "pausedRanges": []any{},
		"stringArray": m.strings.All, "samples": samples, "stackTable": stacks,
		"markers": map[string]any{"length": 0, "category": []any{}, "data": []any{},
			"endTime": []any{}, "name": []any{}, "phase": []any{}, "startTime": []any{}},
		"frameTable": map[string]any{
			"length": frames, "address": filled(frames, -1), "inlineDepth": list(m.frameDepth),
			"category": list(m.frameCategory), "subcategory": list(m.frameSubcategory),
			"func": list(m.frameFunc), "nativeSymbol": filled(frames, nil),
			"innerWindowID": zeros(frames), "implementation": filled(frames, nil),
			"line": list(m.frameLine), "column": filled(frames, nil),
		},
		"funcTable": map[string]any{
			"length": funcs, "name": list(m.funcName), "isJS": filled(funcs, false),
			"relevantForJS": filled(funcs, false), "resource": filled(funcs, -1),
			"fileName": list(m.funcFile), "lineNumber": list(m.funcLine),
			"columnNumber": filled(funcs, nil),
		},
		"resourceTable": map[string]any{"length": 0, "lib": []any{}, "name": []any{},
			"host": []any{}, "type": []any{}},
		"nativeSymbols": map[string]any{"length": 0, "libIndex": []any{}, "address": []any{},
			"name": []any{}, "functionSize": []any{}},
	}
}

// list returns an empty list for nil, which JSON writes as null.
func list(values []any) []any {
	if values == nil {
		return []any{}
	}
	return values
}

func zeros(n int) []any { return filled(n, 0) }

func filled(n int, value any) []any { return slices.Repeat([]any{value}, n) }
