package report

import "github.com/cpprof/cpprof/refine"

// SharedMark returns what is written before the label of an entry some of
// whose stacks also count for a sibling, or "".
func SharedMark(e *refine.Entry) string {
	if e.Shared {
		return "& "
	}
	return ""
}

// sharedLegend explains the mark below a profile that has it.
func sharedLegend(shared bool) string {
	if !shared {
		return ""
	}
	return "\n& some stacks also count for another entry beside it: functions call one another again, and a path counts a stack\n" +
		"  wherever it is satisfied. --auto shows each stack in one place.\n"
}
