//go:build amd64 || arm64

package delve

// restarts reports whether a system call with this result was asleep when the
// thread was interrupted. The results are the kernel's ERESTARTSYS,
// ERESTARTNOINTR, ERESTARTNOHAND and ERESTART_RESTARTBLOCK, and EINTR of
// calls that it does not restart.
func restarts(result int64) bool {
	switch result {
	case -512, -513, -514, -516, -4:
		return true
	}
	return false
}
