package why

import (
	"maps"
	"slices"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/views"
)

// A kindRow is all that is known of one kind of finding. A new
// kind is one more row of the table.
type kindRow struct {
	KindWords

	// find returns the hypotheses of the kind. It is nil if
	// another row finds them, or if findings of the kind need no
	// threshold (see standing).
	find func(s *searcher) []*candidate

	// hits returns what the share of a finding counts, and
	// measure which cost in a view that is. Without hits, it
	// counts the waits for the finding's reasons in its
	// function.
	hits    func(s *searcher, f *Finding) func(*situation) bool
	measure func(s *searcher, f *Finding) *Measure

	ofProcessors bool    // the share is of the processors, and not of the time of a class
	code         bool    // it is about a function on the CPUs
	starved      bool    // it is about threads that have no CPU
	waits        bool    // it is about waits for others, or for what is outside of the program
	outside      bool    // it is not the program that is slow
	placeless    bool    // its place says nothing
	locked       bool    // it is about waits for a lock, whose holders a view shows
	view         string  // the typed time that shows it in its class's view; "" is its function
	specific     float64 // how much a finding of the kind says: the rank is severity times this
	silent       string  // why it is not known what a fix would bring; "" if it can be
}

// KindWords are the words for findings of a kind. Names in
// braces stand for what a finding has: {who} its class, {place}
// its function, {share}, {mean}, {lock}, {waits}, {parts},
// {growth}, {circle}, {left}, {stuck}, {slow}.
type KindWords struct {
	First string // what stands before that a class spends its life on something
	// on what a class spends its life or, if the share is not of
	// a class's, a sentence
	Says    string
	Others  string // what stands before further classes; "" if they do the same
	Because string // why, if the finding has parts
	Own     string // why, if it has none
	// the command that shows the finding, before the recording;
	// "" if a view has its share
	See    string
	Remedy string // what usually helps
	Stays  string // what that does not take away, whatever the gain counts
}

// standsForever is why it is not known what a fix would bring to
// goroutines that stand still.
const standsForever = "the samples don't tell what the goroutines would do otherwise"

// kinds is the table. An init function fills it, since its
// functions refer to it.
var kinds map[Kind]*kindRow

func init() {
	kinds = waitKindRows()
	maps.Copy(kinds, processorKindRows())
	maps.Copy(kinds, readyKindRows())
	maps.Copy(kinds, standstillRows())
	kinds[MachineKind].find, kinds[MachineKind].outside = (*searcher).machineCandidates, true
}

// waitKindRows are the kinds of waits.
func waitKindRows() map[Kind]*kindRow {
	return map[Kind]*kindRow{
		LockKind: {
			find: (*searcher).lockCandidates, hits: (*searcher).lockHits,
			measure: (*searcher).lockMeasure, locked: true, specific: 1,
			KindWords: KindWords{Says: "waiting for {lock}", See: "locks --top 0",
				Remedy: "hold it for less time, or divide what it guards",
				Stays:  "what is done under the lock stays"},
		},
		ChannelKind: {
			find: (*searcher).waitCandidates, measure: (*searcher).waitMeasure, waits: true,
			specific: 0.9,
			KindWords: KindWords{Says: "{waits} in {place}",
				Remedy: "make the other end faster, or have more of what is shared"},
		},
		ConditionKind: waitRow(0.9, "{waits} in {place}", lookAtEnder),
		GroupKind:     waitRow(0.6, "{waits} in {place}", "look at what the others wait for"),
		SleepKind: {
			measure: (*searcher).waitMeasure, waits: true, specific: 0.9,
			KindWords: KindWords{
				Says:   "sleeping in {place}",
				Own:    "it sleeps: perhaps it retries, backs off, polls or pauses",
				Remedy: "wait for the event itself, on a channel, a condition or a lock, or sleep for less time",
				Stays:  "what it sleeps for, if anything, must still be waited for",
			},
		},
		IOKind:       waitRow(0.5, "{waits} in {place}", answers),
		BlockingKind: waitRow(0.8, "in system calls, in {place}: {calls}", fewerCalls),
		ForeignKind: waitRow(0.8, "waiting in C code, in {place}",
			"look at what it waits for there, such as a file, a lock, or a time"),
	}
}

// waitRow returns the row of a kind of wait that has only words of its
// own.
func waitRow(specific float64, says, remedy string) *kindRow {
	return &kindRow{measure: (*searcher).waitMeasure, waits: true, specific: specific,
		KindWords: KindWords{Says: says, Remedy: remedy}}
}

// starvedRow returns the row of a kind about threads that have no CPU.
func starvedRow(specific float64, says, remedy string) *kindRow {
	return &kindRow{hits: (*searcher).starvedHits, ofProcessors: true, starved: true, placeless: true,
		view: views.Load.String(), specific: specific,
		silent:    "the samples don't tell how fast the program is with more CPU time",
		KindWords: KindWords{Says: says, Others: "it holds up", See: "info", Remedy: remedy}}
}

// readyKindRows are the kinds of who is ready to run, and of who
// gives way.
func readyKindRows() map[Kind]*kindRow {
	return map[Kind]*kindRow{
		ProcessorKind: {
			find: (*searcher).readyCandidates, hits: (*searcher).readyHits,
			measure:   (*searcher).readyMeasure,
			placeless: true, view: views.Load.String(), specific: 1,
			silent: "it depends on what the other goroutines do less of, or on the processors added",
			KindWords: KindWords{
				First:  "More goroutines are ready to run than processors: ",
				Says:   "waiting for a processor",
				Others: "others wait for one, too:",
				Remedy: "do less at once, or use more processors",
			},
		},
		SpinKind: {
			find: (*searcher).spinCandidates, hits: (*searcher).spinHits,
			measure: (*searcher).spinMeasure, specific: 1, silent: "it is not known what would be done instead",
			KindWords: KindWords{
				Says:   "giving way with runtime.Gosched in {place}",
				Own:    "perhaps it spins: it gives way again and again, and looks for what others do",
				Remedy: "if so, wait on a channel, a condition or a lock instead",
			},
		},
		MachineKind: starvedRow(0,
			"Threads of the program wait for the machine's CPUs: {mean} on average, which equals {share} of the processors.",
			"run it where CPUs are free"),
		CrowdedKind: starvedRow(0,
			"At times more of the program's threads want to run than there are CPUs: {mean} wait for a CPU on average, which equals {share} of the processors.",
			""),
		WakingKind: starvedRow(0,
			"Threads of the program wait for a CPU each time they wake, though CPUs are free: {mean} on average, which equals {share} of the processors.",
			"do more at each wake: hand over several pieces of work at once"),
		ThrottledKind: starvedRow(2,
			"The program's control group has too little CPU time: {mean} threads wait for a CPU on average, which equals {share} of the processors.",
			"raise the limit of the group, or set GOMAXPROCS to it"),
	}
}

// processorKindRows are the kinds of what takes the processors.
func processorKindRows() map[Kind]*kindRow {
	return map[Kind]*kindRow{
		ComputeKind: {
			find: (*searcher).computeCandidates, hits: (*searcher).codeHits,
			measure:      (*searcher).codeMeasure,
			ofProcessors: true, code: true, specific: 1,
			KindWords: KindWords{
				Says:    "{place}, in {who}, takes {share} of the processors ({mean} of them).",
				Because: "it computes: {parts}", Own: "it computes in its own code",
				Others: "others run it, too:",
				Remedy: "call it less, or make it cheaper",
			},
		},
		SystemCallKind: {
			hits: (*searcher).codeHits, measure: (*searcher).codeMeasure, ofProcessors: true,
			code: true, specific: 1,
			KindWords: KindWords{
				Says:    "{place}, in {who}, takes {share} of the processors, at least half of that in system calls: {calls}.",
				Because: "of that time: {parts}", Own: "it computes in its own code",
				Others: "others run it, too:",
				Remedy: fewerCalls,
			},
		},
		AllocationKind: {
			hits: (*searcher).garbageHits, measure: (*searcher).garbageMeasure, ofProcessors: true,
			specific: 1,
			KindWords: KindWords{
				Says:    "Allocation and the garbage collector take {share} of the processors; {who} spends most time on it, most often in {place}.",
				Because: "of that time: {parts}",
				Remedy:  "allocate less there, or use memory again",
				Stays:   "what else is done there stays",
			},
		},
		FinalizerKind: {
			find: (*searcher).finalizerCandidates, hits: (*searcher).finalizerHits,
			measure: (*searcher).finalizerMeasure, specific: 1,
			silent: "the samples don't tell what waits for finalizers",
			KindWords: KindWords{
				Says: "finalizing in {place}", Own: "one goroutine runs all finalizers, one after the other: what it does holds up the others",
				See: "report --idle", Remedy: "start a goroutine there for what takes long, or free things without finalizers",
			},
		},
		MakingKind: {
			find: (*searcher).makingCandidates, hits: (*searcher).makingHits,
			measure: (*searcher).makingMeasure, specific: 1.1,
			KindWords: KindWords{
				Says: "{made} in {place}", Own: "{each}", See: "report --idle",
				Remedy: "keep one and use it again",
			},
		},
	}
}

// standstillRows are the kinds of goroutines that never go on.
func standstillRows() map[Kind]*kindRow {
	return map[Kind]*kindRow{
		LeakKind: {
			specific: 1, silent: standsForever,
			KindWords: KindWords{
				Says:   "Goroutines of {class} {leak}: {growth}, and {ends}; they wait ({reason}) in {place}{waited}.",
				See:    "report --idle",
				Remedy: "end them: by a context, a closed channel, or a buffer for the last value",
			},
		},
		StandstillKind: {
			specific: 1, silent: standsForever,
			KindWords: KindWords{
				Says: "Not one of {who} was seen to move: they wait ({reason}) in {place}.",
				Own:  "as far as names tell, it waits for what it asked for, and not for work; whether it will go on is not known",
				See:  "report --idle", Remedy: lookAtEnder,
			},
		},
		LeftKind: {
			specific: 1, silent: standsForever,
			KindWords: KindWords{
				Says: "{left} of {who} have not moved, while others of the class go on: they wait ({reason}) in {place}.",
				Own:  "hardly any goroutine was seen at work meanwhile: what they wait for may never come",
				See:  "report --idle", Remedy: lookAtEnder,
			},
		},
		StuckKind: {
			specific: 1e9, silent: standsForever,
			KindWords: KindWords{Says: "{stuck}", See: "stuck", Remedy: "see to it that the wait ends"},
		},
		SlowKind: {
			specific: 1, silent: "the other calls are fast already",
			KindWords: KindWords{Says: "{slow}", See: "calls",
				Remedy: "see what the slow calls do, one by one: --number 1 is the longest"},
		},
		DeadlockKind: {
			locked: true, specific: 1e6, silent: standsForever,
			KindWords: KindWords{Says: "{circle}", See: "locks",
				Remedy: "take the locks in one order everywhere"},
		},
	}
}

// row returns the row of a kind; an empty one for a kind that is
// not known.
func (k Kind) row() *kindRow {
	if row := kinds[k]; row != nil {
		return row
	}
	return &kindRow{}
}

func (f *Finding) row() *kindRow { return f.Kind.row() }

// Words returns the words for findings of the kind.
func (f *Finding) Words() KindWords { return f.row().KindWords }

// IsCode reports whether a finding is about a function on the processors.
func (f *Finding) IsCode() bool { return f.row().code }

// OfProcessors reports whether the share is of the processors.
// It is of the time of the finding's class otherwise.
func (f *Finding) OfProcessors() bool { return f.row().ofProcessors }

// AwaitsLock reports whether a finding is about waits for a lock.
func (f *Finding) AwaitsLock() bool { return f.row().locked }

// View returns the call path that shows a finding: the class of
// its view, "" for the Server View, and the last frame.
func (f *Finding) View() (class, last string) {
	switch row := f.row(); {
	case row.view != "":
		return f.Class, row.view
	case row.ofProcessors:
		return "", f.Where.Function
	}
	return f.Class, f.Where.Function
}

// stands reports whether the finding needs no threshold.
func (f *Finding) stands() bool { return f.row().hits == nil && !f.row().waits }

// HasPlace reports whether the finding's place says something.
func (f *Finding) HasPlace() bool { return !f.row().placeless }

// candidates returns the hypotheses of all kinds.
func (s *searcher) candidates() (all []*candidate) {
	for _, k := range kindNames() {
		if find := kinds[k].find; find != nil {
			all = append(all, find(s)...)
		}
	}
	return all
}

// kindNames returns the kinds in their order.
func kindNames() (names []Kind) {
	for k := range kinds {
		names = append(names, k)
	}
	slices.Sort(names)
	return names
}

// classOf returns the class of a finding; -1 if the recording
// has none of that name.
func (s *searcher) classOf(f *Finding) int32 {
	if class, exists := s.e.byName[f.Class]; exists {
		return class
	}
	return -1
}

// hits returns the situations that a finding's share counts. It
// holds for other recordings, too.
func (s *searcher) hits(f *Finding) func(*situation) bool {
	if hits := f.row().hits; hits != nil {
		return hits(s, f)
	}
	return ofClass(s.classOf(f), func(at *situation) bool {
		return at.waits() && slices.Contains(f.reasons, at.state.Reason) &&
			s.on(at, f.Where.Function) &&
			(f.Asked == "" && !s.isApart(at, f) || f.Asked != "" && s.on(at, f.Asked))
	})
}

// isApart reports whether a wait in a finding's function is one
// for what it asks a library: that is another hypothesis.
func (s *searcher) isApart(at *situation, f *Finding) bool {
	k, _ := s.waitKey(at)
	return k.asked != "" && k.function == f.Where.Function
}

func (s *searcher) codeHits(f *Finding) func(*situation) bool {
	return func(at *situation) bool { return at.usesCPU() && s.on(at, f.Where.Function) }
}

func (s *searcher) codeMeasure(f *Finding) *Measure { return &Measure{Path: through(f.Where.Function)} }

func (s *searcher) garbageHits(*Finding) func(*situation) bool { return s.makesGarbage }

func (s *searcher) garbageMeasure(*Finding) *Measure {
	return measureOf("", "* ..@alloc", "* ..@gc")
}

func (s *searcher) starvedHits(*Finding) func(*situation) bool { return (*situation).lacksCPU }

func (s *searcher) lockHits(f *Finding) func(*situation) bool {
	return ofClass(s.classOf(f), awaits(f.Lock))
}

func (s *searcher) readyHits(f *Finding) func(*situation) bool {
	return ofClass(s.classOf(f), isReady)
}

func (s *searcher) readyMeasure(f *Finding) *Measure {
	return measureOf(f.Class, "(* ..:LOAD or * ..:PRIO) and not * ..:no-CPU")
}

func (s *searcher) waitMeasure(f *Finding) *Measure {
	var paths []string
	at := through(f.Where.Function)
	if f.Asked != "" {
		at += " .." + callpath.Frame(f.Asked).String()
	}
	for _, reason := range f.reasons {
		paths = append(paths, at+" .."+views.ReasonFrame(reason))
	}
	m := measureOf(f.Class, paths...)
	for i, library := range f.apart {
		if i == 0 {
			m.Keep = "(" + m.Keep + ")"
		}
		m.Keep += " and not " + at + " .." + callpath.Frame(library).String()
	}
	return m
}
