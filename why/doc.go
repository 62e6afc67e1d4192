// Package why finds when, where and why a program is slow. It
// tests hypotheses on the evidence of a recording, and refines
// those that hold, as JBolt does (Brear and others: Search
// strategies for Java bottleneck location by dynamic
// instrumentation). Find answers for one recording, Compare for
// two. The files are, in the order of the work:
//
//	evidence.go      the samples as situations: goroutines of one class in one state
//	places.go        where in the program a stack is: modules.go, its modules; kinds.go, what code
//	                 does; activity.go, what goroutines do
//	find.go          all hypotheses, and the test of them: measure.go, what the share of each is of
//	locked.go        hypotheses on waits for locks
//	waiting.go       on waits for channels, conditions, I/O and system calls: forwork.go, why some are
//	                 waits for work; loops.go, the functions that show it; streams.go, the requests that
//	                 go on
//	computing.go     on code that takes the processors: garbage.go, on allocation; spinning.go, on
//	                 loops that give way; endless.go, on calls that may never return
//	ready.go         on too few processors; starved.go, on threads without a CPU
//	making.go        on what is made again and again; finalizing.go, on finalizers
//	leaks.go         goroutines that never end, and deadlocks; still.go, those that have not moved;
//	                 marked.go, those that can never run again
//	blame.go         whom goroutines wait for, and what those do; guesses.go, if nobody is named;
//	                 behind.go, for whom these wait in turn
//	limit.go         the channels whose buffers they wait for; bound.go, who has the places
//	saturated.go     servers behind waits that nobody is known to end; gatherers.go, who may gather
//	                 work meanwhile
//	own_handlers.go  if the program gives itself the answers that it waits for
//	signs.go         known patterns behind findings, and what helps then; deadlines.go, waits that all
//	                 take as long; answers.go, waits for answers on connections
//	who.go           if few goroutines of the class, or a label, have most of a finding
//	when.go          when a finding is true; phases.go, what is true only in a phase; companions.go,
//	                 the monitors that go with it; course.go, how its verdict changed
//	slow_calls.go    the slowest calls of a function beside the others
//	conclude.go      what is left if each finding that another one explains is left out, in order:
//	                 work.go, what a program does that is not slow
//	gain.go          what its fix would bring: gain_law.go has the laws, gain_moments.go the samples,
//	                 gain_trace.go whose time is a cost, gain_each.go how goroutines differ,
//	                 gain_along.go who gets more to do, too, gain_crowded.go when CPUs lack; without.go,
//	                 of a cost that somebody names
//	answer.go        the answer: kind_table.go has the kinds of findings; settled.go, if it is sure
//	probed.go        what the samples say of functions that were probed; measured.go, what probes do
//	compare.go       what is slower than in an earlier recording; same.go, if both are of one
//	                 program; together.go, what holds in several
package why
