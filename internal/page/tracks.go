package page

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calls"
	"github.com/cpprof/cpprof/views/locks"
)

// The limits of a picture of tracks.
const (
	maxTrackRows = 200
	maxHolders   = 20 // rows below a goroutine
	maxFrames    = 400
)

// overTime are the goroutines of a page over time.
type overTime struct {
	*views.Tracks
	byID  map[int64]sampledata.GoroutineID
	lock  func(sampledata.Run) string
	from  time.Duration // of the recording
	to    time.Duration
	calls map[int64][]int // by goroutine: indexes of calls in ofCalls
	of    *calls.Table
}

// tracksOf returns the goroutines over time. It makes them on first use.
func (s *shown) tracksOf() (*overTime, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timed != nil {
		return s.timed, nil
	}
	if !s.page.HasTimes() {
		return nil, badRequest{errors.New("a comparison, a part of a view or of the samples, a profile or a dump has no tracks")}
	}
	r := s.page.whole()
	t := &overTime{Tracks: views.NewTracks(r, s.options()), byID: make(map[int64]sampledata.GoroutineID),
		lock: locks.Namer(r, locks.ByField), from: r.Begins(0), to: r.Begins(r.Samples.Len())}
	for g, one := range r.Goroutines.All() {
		t.byID[one.ID] = g
	}
	s.timed = t
	return t, nil
}

// window is the part of the time that a request is about.
type window struct {
	from, to time.Duration
	columns  int
}

func (t *overTime) window(q *question) (window, error) {
	span := q.span()
	w := window{cmp.Or(span.From, t.from), cmp.Or(span.To, t.to), q.number("columns", 1, maxColumns)}
	if w.from >= w.to || w.to > math.MaxInt64/2 {
		return w, badRequest{fmt.Errorf("from %d to %d: want a span of time", w.from, w.to)}
	}
	return w, nil
}

// classRow is a class in a picture of tracks.
type classRow struct {
	Name       string `json:"name"`
	Goroutines int    `json:"goroutines"`
	Shares     []int  `json:"shares"` // by column, then by typed time: of 200
}

// trackRow is a goroutine in a picture of tracks.
type trackRow struct {
	ID    int64  `json:"id"`
	Class string `json:"class"`
	// By segment: from and to, in nanoseconds since the window's
	// begin, the typed time, and 1 if a holder is known.
	Segments []int64 `json:"segments"`
	Calls    []int64 `json:"calls"` // by call: from and to, as above, and its number
	// What the first row waits for that this goroutine held: from and to.
	Held []int64 `json:"held,omitempty"`
}

// tracksAnswer is a part of a picture of tracks.
type tracksAnswer struct {
	Begin   time.Duration `json:"begin_ns"` // of the recording
	End     time.Duration `json:"end_ns"`
	From    time.Duration `json:"from_ns"` // of the window
	To      time.Duration `json:"to_ns"`
	Class   string        `json:"class"`
	First   int           `json:"first"` // the number of the first row
	Total   int           `json:"total"` // rows
	Classes []classRow    `json:"classes"`
	Rows    []trackRow    `json:"rows"`
}

// tracks returns what goroutines did over time: of all classes,
// of the goroutines of one, or of one goroutine and those that
// held what it waited for.
func (s *shown) tracks(q *question) (any, error) {
	t, err := s.tracksOf()
	if err != nil {
		return nil, err
	}
	w, err := t.window(q)
	if err != nil {
		return nil, err
	}
	rows := q.number("rows", 1, maxTrackRows)
	out := &tracksAnswer{Begin: t.from, End: t.to, From: w.from, To: w.to, First: q.number("first", 0, math.MaxInt32),
		Classes: []classRow{}, Rows: []trackRow{}}
	if err := s.showCallsOf(t, q.Get("function")); err != nil {
		return nil, err
	}
	switch {
	case q.Get("goroutine") != "":
		err = s.goroutine(t, w, out, q.Get("goroutine"))
	case q.Get("class") != "":
		c := t.Class(q.Get("class"))
		if c == nil {
			return nil, badRequest{fmt.Errorf("class %q: the recording has no such class", q.Get("class"))}
		}
		out.Class, out.Total = c.Name, len(c.Goroutines)
		for _, g := range cut(c.Goroutines, out.First, rows) {
			out.Rows = append(out.Rows, s.trackRow(t, w, g))
		}
	default:
		out.Total = len(t.Classes)
		shown := cut(t.Classes, out.First, rows)
		for i := range shown {
			out.Classes = append(out.Classes, classRowOf(t, w, &shown[i]))
		}
	}
	return out, err
}

// cut returns at most n values of a list, from a number on.
func cut[T any](list []T, first, n int) []T {
	list = list[min(first, len(list)):]
	return list[:min(n, len(list))]
}

func classRowOf(t *overTime, w window, c *views.TrackClass) classRow {
	row := classRow{Name: c.Name, Goroutines: len(c.Goroutines)}
	for _, column := range t.Shares(c, w.from, w.to, w.columns) {
		for _, share := range column {
			row.Shares = append(row.Shares, int(math.Ceil(max(0, share-1e-9)*200)))
		}
	}
	return row
}

// showCallsOf prepares the calls of a function; "" for none.
func (s *shown) showCallsOf(t *overTime, function string) error {
	var table *calls.Table
	if function != "" {
		var err error
		if table, err = s.callsOf(function); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.of == table {
		return nil
	}
	byID := make(map[int64][]int)
	if table != nil {
		for i := range table.Calls {
			byID[table.Calls[i].ID] = append(byID[table.Calls[i].ID], i)
		}
	}
	t.of, t.calls = table, byID
	return nil
}

func (s *shown) trackRow(t *overTime, w window, g sampledata.GoroutineID) trackRow {
	r := s.page.whole()
	row := trackRow{ID: r.Goroutines.At(g).ID, Class: t.ClassOf(g), Segments: []int64{}, Calls: []int64{}}
	for _, seg := range t.Segments(g, w.from, w.to, w.columns) {
		held := int64(0)
		if run := r.Runs.At(int(seg.Run)); run.Holders != 0 && run.Evidence.Blames() {
			held = 1
		}
		row.Segments = append(row.Segments, int64(seg.From-w.from), int64(seg.To-w.from), int64(seg.Typed), held)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, i := range t.calls[row.ID] { // the longest first
		c := &t.of.Calls[i]
		if len(row.Calls) >= 3*w.columns {
			break
		}
		if c.End > w.from && c.Begin < w.to {
			row.Calls = append(row.Calls, int64(max(c.Begin, w.from)-w.from), int64(min(c.End, w.to)-w.from), int64(i+1))
		}
	}
	return row
}

// goroutineOf returns the goroutine of a number.
func (t *overTime) goroutineOf(text string) (sampledata.GoroutineID, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	g, ok := t.byID[id]
	if err != nil || !ok {
		return 0, badRequest{fmt.Errorf("goroutine %q: the recording has no such goroutine", text)}
	}
	return g, nil
}

// goroutine adds the row of a goroutine, and the rows of those
// that held what it waited for.
func (s *shown) goroutine(t *overTime, w window, out *tracksAnswer, text string) error {
	g, err := t.goroutineOf(text)
	if err != nil {
		return err
	}
	r := s.page.whole()
	out.First, out.Class, out.Rows = 0, t.ClassOf(g), append(out.Rows, s.trackRow(t, w, g))
	rows := make(map[sampledata.GoroutineID]int)
	for _, seg := range t.Segments(g, w.from, w.to, w.columns) {
		run := r.Runs.At(int(seg.Run))
		if run.Holders == 0 || !run.Evidence.Blames() {
			continue
		}
		for _, h := range r.HolderSets[run.Holders] {
			at, ok := rows[h]
			if !ok && len(out.Rows) > maxHolders {
				continue
			}
			if !ok {
				at = len(out.Rows)
				rows[h] = at
				out.Rows = append(out.Rows, s.trackRow(t, w, h))
			}
			out.Rows[at].Held = append(out.Rows[at].Held, int64(seg.From-w.from), int64(seg.To-w.from))
		}
	}
	out.Total = len(out.Rows)
	return nil
}

// moment is what a goroutine did at some time.
type moment struct {
	ID      int64         `json:"id"`
	Class   string        `json:"class"`
	From    time.Duration `json:"from_ns"` // of its state
	To      time.Duration `json:"to_ns"`
	Typed   int           `json:"typed"`
	Text    string        `json:"text"`
	Lock    string        `json:"lock"`
	Verb    string        `json:"verb"`   // what holders are to its wait
	Frames  []string      `json:"frames"` // the outermost first
	Holders []moment      `json:"holders"`
}

// moment returns what a goroutine did at some time, and its holders.
func (s *shown) moment(q *question) (any, error) {
	t, err := s.tracksOf()
	if err != nil {
		return nil, err
	}
	g, err := t.goroutineOf(q.Get("goroutine"))
	if err != nil {
		return nil, err
	}
	at := time.Duration(q.whole("at", 0, math.MaxInt64/2)) // since the start
	m, run := s.momentOf(t, g, at)
	if run == nil || run.Holders == 0 {
		return m, nil
	}
	for _, h := range s.page.whole().HolderSets[run.Holders] {
		if len(m.Holders) < maxHolders {
			holder, _ := s.momentOf(t, h, at)
			m.Holders = append(m.Holders, holder)
		}
	}
	return m, nil
}

// momentOf returns what a goroutine did at some time, and the
// run; nil if there is none.
func (s *shown) momentOf(t *overTime, g sampledata.GoroutineID, at time.Duration) (moment, *sampledata.Run) {
	r := s.page.whole()
	m := moment{ID: r.Goroutines.At(g).ID, Class: t.ClassOf(g), Text: "is not there", Frames: []string{}, Holders: []moment{}}
	seg, ok := t.At(g, at)
	if !ok {
		return m, nil
	}
	run := r.Runs.At(int(seg.Run))
	doing := views.DoingOf(run)
	m.From, m.To, m.Typed, m.Text = seg.From, seg.To, int(doing.Time()), doing.Words()
	m.Verb = report.HolderVerb(doing, run.Evidence.Blames())
	if doing == views.AwaitingLock {
		s.mu.Lock() // names are found on first use
		m.Lock = t.lock(run)
		s.mu.Unlock()
		m.Text = "waits for " + report.LockWords(m.Lock)
	}
	if run.Stack != sampledata.NoStack {
		frames := views.StackFrames(r, s.options(), run.Stack)
		m.Frames = frames[max(0, len(frames)-maxFrames):]
	}
	return m, &run
}
