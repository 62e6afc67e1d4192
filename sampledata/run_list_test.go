package sampledata

import (
	"testing"

	"pgregory.net/rapid"
)

// A list of runs has what was added and ended last, however far
// its runs are apart and however long they are.
func TestRunList(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var list runList
		var want []plainRun
		first := int32(0)
		for range rapid.IntRange(1, 3*chunkLen).Draw(rt, "runs") {
			first += int32(rapid.SampledFrom([]int{0, 0, 1, 20, maxAfter}).Draw(rt, "later"))
			r := plainRun{goroutine: GoroutineID(len(want)), first: first, last: first, state: first / 2}
			list.add(r)
			want = append(want, r)
		}
		check := func(list *runList, when string) {
			if list.len() != len(want) {
				rt.Fatalf("%s: %d runs, want %d", when, list.len(), len(want))
			}
			for i := range want {
				if got := list.at(i); got != want[i] {
					rt.Fatalf("%s: run %d is %+v, want %+v", when, i, got, want[i])
				}
			}
		}
		check(&list, "at first")
		copied := list.clone()
		for range rapid.IntRange(1, 100).Draw(rt, "ends") {
			i := rapid.IntRange(0, len(want)-1).Draw(rt, "run")
			list.end(i, want[i].first+int32(rapid.SampledFrom([]int{0, 1, maxLength, maxLength + 1, 1 << 30}).Draw(rt, "length")))
		}
		check(&copied, "the copy")
		for i := range want {
			last := want[i].first + int32(i%3)*maxLength
			list.end(i, last)
			want[i].last = last
		}
		check(&list, "in the end")
	})
}
