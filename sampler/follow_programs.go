package sampler

import (
	"context"
	"iter"
)

// FollowPrograms yields the Go programs that a process executes
// and starts, as they begin. It ends when the context is done,
// or when no further program can start. The caller releases what
// it gets, except the root. It fails on systems that don't show
// what processes run.
func FollowPrograms(ctx context.Context, root *Process,
	f ProgramFilter) (iter.Seq[*Process], error) {
	finder, err := newProgramFinder(root, f)
	if err != nil {
		return nil, err
	}
	return finder.programs(ctx), nil
}
