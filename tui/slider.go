package tui

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/report"
)

// sliderStops are the hits at which the slider stands, up to those of the view's root: 0 1 2 3 5 7 10 15 20 30 50 70 100 ...
func sliderStops(root *big.Rat) []*big.Rat {
	stops := []*big.Rat{hits(0), hits(1), hits(2), hits(3), hits(5), hits(7)}
	for decade := int64(10); ; decade *= 10 {
		for _, tenths := range []int64{10, 15, 20, 30, 50, 70} {
			h := hits(decade / 10 * tenths)
			if h.Cmp(root) > 0 {
				return stops
			}
			stops = append(stops, h)
		}
	}
}

// limit is the threshold in hits, whether it was given so or as a cost.
func (w *profileWindow) limit() *big.Rat {
	t := w.session.Threshold()
	limit := new(big.Rat)
	if t.Hits != nil {
		limit.Set(t.Hits)
	}
	if t.Cost != nil {
		if byCost := new(big.Rat).Mul(t.Cost, w.session.Tree().Main().Denominator); byCost.Cmp(limit) > 0 {
			limit = byCost
		}
	}
	return limit
}

func (w *profileWindow) setThreshold(t refine.Threshold) {
	w.session.SetThreshold(t)
	w.update()
}

// slide moves the threshold to the next stop, or to the one before.
func (w *profileWindow) slide(by int) {
	if w.session == nil {
		return
	}
	stops, limit := sliderStops(w.session.Root().Hits), w.limit()
	if by > 0 {
		for _, s := range stops {
			if s.Cmp(limit) > 0 {
				w.setThreshold(refine.Threshold{Hits: s})
				return
			}
		}
		return
	}
	for i := len(stops) - 1; i >= 0; i-- {
		if stops[i].Cmp(limit) < 0 {
			w.setThreshold(refine.Threshold{Hits: stops[i]})
			return
		}
	}
}

const (
	sliderLabel = " Threshold [ "
	sliderStop  = 2 // columns from one stop to the next, at most
)

// sliderWidth is the length of the track, of which every stop has a column at least where there is room for it.
func sliderWidth(room, stops int) int { return max(2, min(room, 1+sliderStop*(stops-1))) }

// drawSlider draws the threshold, and how many entries do not reach it.
func (w *profileWindow) drawSlider(c canvas) {
	stops, limit := sliderStops(w.session.Root().Hits), w.limit()
	at := 0
	for i, s := range stops {
		if s.Cmp(limit) <= 0 {
			at = i
		}
	}
	x := c.text(0, 0, sliderLabel, w.a.theme.plain)
	track := sliderWidth(c.width/2-x, len(stops))
	knob := at * (track - 1) / max(len(stops)-1, 1)
	line := c.part(x, 0, track, 1)
	line.text(0, 0, strings.Repeat("─", track), w.a.theme.dim)
	line.text(knob, 0, "●", w.a.theme.key)
	w.slider = c.part(x-2, 0, track+4, 1) // with its brackets
	text := fmt.Sprintf(" ]  %s (cost %s)", report.CountedHits(limit), report.Cost(w.session.Tree().Main().Cost(limit)))
	x = c.text(x+track, 0, text, w.a.theme.plain)
	if hidden := w.hidden(); hidden > 0 {
		c.text(x, 0, fmt.Sprintf("  %d hidden", hidden), w.a.theme.bold)
	}
}

// hidden is the number of entries that don't reach the threshold.
func (w *profileWindow) hidden() (sum int) {
	for _, r := range w.entries.rows {
		if !w.session.Collapsed(r.entry) {
			sum += w.session.Hidden(r.entry)
		}
	}
	return sum
}

// slideTo moves the threshold to the stop at a column of the slider; a click on a bracket moves it by one stop.
func (w *profileWindow) slideTo(column int, click bool) {
	stops := sliderStops(w.session.Root().Hits)
	track := max(w.slider.width-5, 1)
	column -= 2
	if click && (column < 0 || column > track) {
		w.slide(column)
		return
	}
	at := (min(max(column, 0), track)*(len(stops)-1) + track/2) / track
	w.setThreshold(refine.Threshold{Hits: stops[at]})
}
