package session

import "fmt"

// windowVersion1 is a window in a file of version 1. It is the window of the locks, a comparison if it names another
// recording, or else a profile.
type windowVersion1 struct {
	Locks   bool   `json:"locks"`
	Against string `json:"against"`
	profileJSON
}

func windowsVersion1(data []byte) (windows []Window, err error) {
	var list []windowVersion1
	if len(data) == 0 {
		return nil, nil
	}
	if err := strict(data, &list); err != nil {
		return nil, fmt.Errorf("windows: %w", err)
	}
	for i, j := range list {
		p, err := j.profile()
		if err != nil {
			return nil, fmt.Errorf("window %d: %w", i+1, err)
		}
		switch {
		case j.Locks:
			windows = append(windows, new(Locks))
		case j.Against != "":
			windows = append(windows, &Comparison{Profile: p, Against: j.Against})
		default:
			windows = append(windows, &p)
		}
	}
	return windows, nil
}
