//go:build amd64 || arm64

package delve

// restarts holds for the result of a system call that was asleep when the thread was interrupted: the kernel's
// ERESTARTSYS, ERESTARTNOINTR, ERESTARTNOHAND and ERESTART_RESTARTBLOCK, and EINTR of calls that it does not restart.
func restarts(result int64) bool {
	switch result {
	case -512, -513, -514, -516, -4:
		return true
	}
	return false
}
