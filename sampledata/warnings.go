package sampledata

import "math"

// warnings are counted by kind.
type warnings struct {
	list []Warning
	at   map[string]int // by kind: its index in list
}

// add ignores a count below 1, and a warning without a kind.
func (w *warnings) add(kind, message string, count int64) {
	if count < 1 || kind == "" {
		return
	}
	i, ok := w.at[kind]
	if !ok {
		if w.at == nil {
			w.at = make(map[string]int)
		}
		w.at[kind] = len(w.list)
		w.list = append(w.list, Warning{Kind: kind, Message: message, Count: count})
		return
	}
	w.list[i].Count += min(count, math.MaxInt64-w.list[i].Count)
}

func (w *warnings) clear() {
	w.list = w.list[:0]
	clear(w.at)
}
