//go:build !linux

package monitor

func openThreadTimes(Target) (func(*schedStat) error, func() error, error) {
	return nil, nil, errNoProc
}
