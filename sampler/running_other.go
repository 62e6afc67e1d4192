//go:build !linux

package sampler

// Running returns no programs: this system doesn't show what its processes run.
func Running() []*Process { return nil }

// An Identity tells one program from another. This system shows no more than
// the process id.
type Identity struct{ pid int }

// IdentityOf returns which program a process runs now.
func IdentityOf(pid int) Identity { return Identity{pid} }

// HaltableBy returns no processes: this system doesn't say what a user may
// halt.
func HaltableBy([]*Process, User) []*Process { return nil }
