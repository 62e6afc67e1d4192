package why

import (
	"cmp"
	"maps"
	"regexp"
	"slices"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// A Made is a thing that is made again and again.
type Made struct {
	What      string  `json:"what"`       // "connections"
	Does      string  `json:"does"`       // "making connections"
	PerSecond float64 `json:"per_second"` // at least: what is made between two samples is not seen
	// seconds that one takes at most, on average; 0 if the
	// samples are too far apart, or the goroutines make little
	// else
	Each float64 `json:"each,omitempty"`
	// Counted reports that all that were seen are counted, not
	// only those that a sample saw in the making.
	Counted bool `json:"counted,omitempty"`
	// Fast reports that most take less time than from one sample
	// to the next.
	Fast bool `json:"fast,omitempty"`
	// Awaited reports that who makes one also waits for its end.
	Awaited bool `json:"awaited,omitempty"`
	// the function that waits for it, if goroutines of net/http
	// make it
	For string `json:"for,omitempty"`

	of int // its maker
}

// A maker is functions that make a thing which programs can
// keep.
type maker struct {
	what      string
	does      string // "opening files"; "" is making what
	functions *regexp.Regexp
	calledBy  string // only if this function calls them; "" is any
	remedy    string
}

// makers are the things, the ones that are made for others
// first.
var makers = []maker{
	{"lookups of addresses", "looking up addresses", named(`net\.\(\*Resolver\)\.[lL]ookup\w+`), "", "keep the connection, or the address"},
	{"TLS handshakes", "", named(`crypto/tls\.\(\*Conn\)\.(clientHandshake|serverHandshake)|net/http\.\(\*persistConn\)\.addTLS`),
		"", keep},
	{connections, "", named(`net\.\(\*Dialer\)\.Dial\w*|net/http\.\(\*Transport\)\.dialConn`), "", keep},
	{"compiled expressions", "compiling expressions", named(`regexp\.(Must)?Compile(POSIX)?`), "", keep},
	{"parsed templates", "parsing templates", named(`(text|html)/template\.\(\*Template\)\.Parse\w*`), "", keep},
	{"encoders and decoders", "", named(`(github\.com/klauspost/)?compress/\w+\.New(Writer|Reader)(Level|Dict)*`), "",
		"keep one, and Reset it"},
	{"type descriptions of gob", "", named(`encoding/gob\.\(\*(En|De)coder\)\.(sendTypeDescriptor|compile\w+)`), "",
		"keep the encoder or decoder for several values"},
	{"keys", "", named(`crypto/\w+\.(GenerateKey|GenerateMultiPrimeKey)`), "", keep},
	{"pools of certificates", "", named(`crypto/x509\.(SystemCertPool|loadSystemRoots)`), "", keep},
	{"time zones", "loading time zones", named(`time\.LoadLocation`), "", keep},
	{"random sources", "", named(`math/rand\.(NewSource|\(\*rngSource\)\.Seed)`), "", keep},
	{processes, "starting processes", named(`os/exec\.\(\*Cmd\)\.(Start|Wait)`), "",
		"see what a process does; or ask the kernel, a library, or one process for several things"},
	{files, "opening files", named(`os\.(OpenFile|CreateTemp|MkdirTemp)`), "", "if it is the same one, keep it open"},
	{"timers", "", named(`time\.(After|AfterFunc|NewTimer|NewTicker|Tick)`), "", "make one before the loop, and Reset it"},
	{"goroutines", "starting goroutines", startsGoroutine, "", fewGoroutines},
	{"deferred calls", "deferring calls", named(`runtime\.(deferproc|deferprocat)`), "",
		"they wait for the function's end: call it without defer, or make the loop's body a function"},
	{"finalizers", "setting finalizers", named(`runtime\.(SetFinalizer|AddCleanup\[\.\.\.\])`), "", "free what they free when it is used no more"},
	{"values that a sync.Pool did not have", "", named(`.*`), "sync.(*Pool).Get", emptyPool},
}

// processes are mostly awaited, for as long as each lives.
const processes = "processes"

const connections = "connections"

// files hardly take memory or CPU time: who waits for the collector
// there, or for a CPU, would wait for it elsewhere.
const files = "open files"

// startsGoroutine is what a go statement calls.
var startsGoroutine = named(`runtime\.newproc`)

const (
	keep = "keep one and use it again" // what usually helps
	// instead of a goroutine for each piece
	fewGoroutines = "let few goroutines do several pieces of work each"
	emptyPool     = "keep one pool, and give them back with Put on all ways; each collection empties it a little"
)

// named matches whole names of functions.
func named(pattern string) *regexp.Regexp { return regexp.MustCompile(`^(` + pattern + `)$`) }

const (
	leastMade = 10 // of a thing that are seen at least if it is made again and again
	eachMakes = 2  // of it, how many each goroutine of a class that lives long
	livesLong = 1  // seconds from which a process may be one to look after

	mostRequests = 0.5 // of the waits for connections, if they are made for a function
)

// makes returns the situations in which goroutines make the thing
// of a maker.
func (s *searcher) makes(maker int) func(*situation) bool {
	return func(at *situation) bool {
		if at.idle {
			return false
		}
		i, _ := s.making(at.state.Stack)
		return i == maker
	}
}

// making returns which of the makers a stack is in, by the
// innermost one, or -1, with the frame of the function that makes
// the thing.
func (s *searcher) making(stack sampledata.NodeID) (int, sampledata.NodeID) {
	nodes := s.e.r.Nodes
	for n := stack; n != sampledata.NoStack; n = nodes[n].Parent {
		i := s.maker(nodes[n].Function)
		if i < 0 {
			continue
		}
		caller := ""
		if parent := nodes[n].Parent; parent != sampledata.NoStack {
			caller = s.e.places.function(parent)
		}
		name := s.e.places.function(n)
		if by := makers[i].calledBy; by == "" || by == caller && !views.Machinery(name) {
			return i, n
		}
	}
	return -1, sampledata.NoStack
}

// maker returns the number of a function's maker, or -1. The
// last one is of any function with a certain caller.
func (s *searcher) maker(f sampledata.FunctionID) int {
	if s.makerOf == nil {
		s.makerOf = make([]int8, len(s.e.r.Functions))
	}
	if s.makerOf[f] == 0 {
		name := s.e.r.Functions[f].Name
		i := slices.IndexFunc(makers, func(m maker) bool { return m.functions.MatchString(name) })
		s.makerOf[f] = int8(i) + 1
		if i < 0 {
			s.makerOf[f] = -1
		}
	}
	return int(max(s.makerOf[f]-1, -1))
}

// makingCandidates returns a hypothesis for each thing: that the
// goroutines of a class spend their time on making it.
func (s *searcher) makingCandidates() (all []*candidate) {
	for i, m := range makers {
		of := s.makes(i)
		by := s.e.byClass(of)
		if len(by) == 0 {
			continue
		}
		f := newFinding(MakingKind, m.what)
		f.Made = &Made{What: m.what, Does: cmp.Or(m.does, "making "+m.what), Awaited: m.what == processes, of: i}
		c := s.suffering(f, by, of)
		class := by.most()
		f.Reason = "" // it computes, too
		made := s.episodes(ofClass(class, of), func(was, now sampledata.Run) bool {
			waitsAgain := views.DoingOf(now) == views.InSystemCall && views.WaitsAgain(was, now)
			return f.Made.Awaited && waitsAgain ||
				s.makesAnother(was.Stack, now.Stack, f.Where.Function)
		})
		if m.functions == startsGoroutine {
			f.Made.Counted, made = true, max(made, s.started(class))
		}
		if !views.IsOwn(f.Where.Function) {
			f.Made.For = s.requester()
		}
		if f.connectsHTTP() {
			made = max(made, s.begun(clientReads))
		}
		f.Made.PerSecond = float64(made-1) / (s.e.length / 1e9) // as many lie between the first and the last
		seen := &s.e.classes[class]
		each := by[class] / float64(max(1, made))
		if each > 2*s.chanceEpisode(by[class]/seen.life) {
			f.Made.Each = each / 1e9
		}
		f.Made.Fast = !f.Made.Counted && each < 2*s.chanceEpisode(0) && !f.connectsHTTP()
		if made < leastMade || made < eachMakes*(seen.goroutines-seen.ended) {
			c.note = "it makes " + m.what + " only once, as far as is known"
		}
		if all, other := weigh(s.members(class), of, func(at *situation) bool { return s.awaitsCollector(at) || at.lacksCPU() }); m.what == files && 2*other > all {
			c.note = "it waits for the garbage collector, or has no CPU, most of that time"
		}
		if f.Made.Awaited && each > livesLong*1e9 && s.looksAfter(f, by[class]) {
			c.note = "it may look after processes that live long"
		}
		all = append(all, c)
	}
	return all
}

// looksAfter reports whether goroutines of a finding's class
// live on, and wait for processes nearly all their lives: that
// is no step of other work.
func (s *searcher) looksAfter(f *Finding, waits float64) bool {
	c := &s.e.classes[s.classOf(f)]
	return !c.ends() && waits >= mostOf*c.life && !s.calledBack(f.Where.Path)
}

// started returns how many goroutines a class has started since
// the first sample. They live longer than the go statement
// takes, so more are seen.
func (s *searcher) started(class int32) (n int) {
	of := make(map[int64]bool) // the class's goroutines by number
	there := make([]bool, s.e.r.Goroutines.Len())
	for i, run := range s.e.r.Runs.All() {
		there[run.Goroutine] = there[run.Goroutine] || run.First <= s.e.from
		if at := s.e.of[i]; at >= 0 && s.e.situations[at].class == class {
			of[s.e.r.Goroutines.At(run.Goroutine).ID] = true
		}
	}
	for i, g := range s.e.r.Goroutines.All() {
		if of[g.Parent] && !there[i] {
			n++
		}
	}
	return n
}

// begun returns how many goroutines of a class began after the
// first sample.
func (s *searcher) begun(class string) (n int) {
	of, known := s.e.byName[class]
	if !known {
		return 0
	}
	seen := make(map[sampledata.GoroutineID]bool)
	for run := range s.e.runs(ofClass(of, anywhere)) {
		if !seen[run.Goroutine] && run.First > s.e.from {
			n++
		}
		seen[run.Goroutine] = true
	}
	return n
}

// ofTransport matches the goroutines in which net/http makes connections.
var ofTransport = regexp.MustCompile(`^go:` + ofHTTP + `\.`)

// connectsHTTP reports whether a finding is about connections that
// net/http makes. A goroutine reads from each as long as it lasts.
func (f *Finding) connectsHTTP() bool {
	return f.Made != nil && f.Made.What == connections && ofTransport.MatchString(f.Class)
}

// requesting matches what waits for the connections that net/http makes in
// goroutines of its own.
var requesting = regexp.MustCompile(getsConnection)

// requester returns the function with most of the waits for such
// connections; "" if none has.
func (s *searcher) requester() string {
	h := s.e.places.heaviest()
	for _, at := range s.e.situations {
		if s.e.places.matches(at.state.Stack, requesting) {
			h.add(at.state.Stack, float64(at.stays)) // who waits long may get none
		}
	}
	if len(h.by) == 0 {
		return ""
	}
	function := h.place().Function
	if h.within(function) < mostRequests {
		return ""
	}
	return function
}

// chanceEpisode returns how long an episode looks on average, in
// nanoseconds, if what takes a share of a goroutine's time takes
// less than the samples' distance each time.
func (s *searcher) chanceEpisode(share float64) float64 {
	distance := s.e.length / float64(s.e.to-s.e.from)
	return distance / max(1-share, 0)
}

// makesAnother reports whether a goroutine of a function, which
// was and is making a thing, has begun with another one: it has
// gone back in what calls the maker.
func (s *searcher) makesAnother(was, now sampledata.NodeID, function string) bool {
	_, before := s.making(was)
	_, after := s.making(now)
	nodes := s.e.r.Nodes
	return s.e.places.past(nodes[before].Parent, nodes[after].Parent, function)
}

// episodes counts how often a goroutine came into some
// situations, but for those that were in one when the recording
// began. It may have come again if it was in one just before.
func (s *searcher) episodes(of func(*situation) bool, again func(was, now sampledata.Run) bool) (came int) {
	until := make([]int32, s.e.r.Goroutines.Len()) // the sample after the goroutine's last hit
	last := make([]sampledata.Run, s.e.r.Goroutines.Len())
	for run := range s.e.runs(of) {
		g := run.Goroutine
		if run.First > s.e.from && (until[g] != run.First || again(last[g], run)) {
			came++
		}
		until[g], last[g] = run.Last+1, run
	}
	return came
}

// makingHits returns the situations in which goroutines of a finding's class
// make its thing.
func (s *searcher) makingHits(f *Finding) func(*situation) bool {
	return ofClass(s.classOf(f), s.makes(f.Made.of))
}

// makingMeasure returns the measure of the functions that make a
// thing, without those that make another one within; nil if that
// is not what the share counts.
func (s *searcher) makingMeasure(f *Finding) *Measure {
	hit := s.hits(f)
	on := func(at *situation, functions map[string]bool) bool {
		return s.e.places.above(at.state.Stack, func(name string) bool { return functions[name] })
	}
	members := slices.DeleteFunc(slices.Clone(s.members(s.e.byName[f.Class])),
		func(at *situation) bool { return at.idle })
	makersIn := func(of func(*situation) bool) map[string]bool {
		functions := make(map[string]bool)
		for _, at := range members {
			if _, n := s.making(at.state.Stack); n != sampledata.NoStack && of(at) {
				functions[s.e.places.function(n)] = true
			}
		}
		return functions
	}
	makes := makersIn(hit)
	within := makersIn(func(at *situation) bool { return !hit(at) && on(at, makes) })
	for _, at := range members {
		if hit(at) != (on(at, makes) && !on(at, within)) {
			return nil
		}
	}
	if len(makes)+len(within) > maxPlaces {
		return nil
	}
	m := measureOf(f.Class, pathsThrough(makes)...)
	if len(within) > 0 {
		m.Keep = "(" + m.Keep + ") and not (" + measureOf("", pathsThrough(within)...).Keep + ")"
	}
	return m
}

func pathsThrough(functions map[string]bool) []string {
	return lists.Each(slices.Collect(maps.Keys(functions)), through)
}

// foldMaking leaves out what goroutines do, or wait for, while
// they make a thing again and again. Several classes may make it.
func (a *searched) foldMaking() {
	a.leaveOut(func(f, made *Finding) bool {
		if made.Kind != MakingKind || f.Kind == MakingKind || f.LacksCPU() ||
			f.row().hits == nil && !f.row().waits {
			return false
		}
		total, both := weigh(a.e.situations, a.hits(f), a.makes(made.Made.of))
		if both <= explains*total {
			return false
		}
		made.Behind = append(made.Behind,
			slices.DeleteFunc(f.Behind, func(p Part) bool { return p.Name == made.Class })...)
		return true
	})
}
