package tui

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/refine"
)

// sliderStops returns the hits at the slider's stops, up to the
// view's root: 0 1 2 3 5 7 10 15 20 30 50 70 100 ...
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

// A slider is the threshold of a profile window.
type slider struct {
	w     *profileWindow
	track canvas // of the last drawing
	held  bool   // the mouse button is down on it
}

// limit returns the threshold in hits. One that was given as a
// cost is that share of all hits.
func (s *slider) limit() *big.Rat {
	t := s.w.session.Threshold()
	limit := cmp.Or(t.Hits, new(big.Rat))
	if t.Cost != nil {
		if byCost := new(big.Rat).Mul(t.Cost,
			s.w.session.Tree().Main().Hits().Denominator); byCost.Cmp(limit) > 0 {
			limit = byCost
		}
	}
	return limit
}

// set changes the threshold.
func (s *slider) set(t refine.Threshold) {
	if s.w.session != nil {
		s.w.session.SetThreshold(t)
		s.w.update()
	}
}

// slide moves the threshold to the next or the previous stop.
func (s *slider) slide(by int) {
	if s.w.session == nil {
		return
	}
	stops, limit := sliderStops(s.w.session.Root().Hits), s.limit()
	if by < 0 {
		slices.Reverse(stops)
	}
	next := slices.IndexFunc(stops, func(stop *big.Rat) bool { return by*stop.Cmp(limit) > 0 })
	if next >= 0 {
		s.set(refine.Threshold{Hits: stops[next]})
	}
}

const sliderStop = 2 // columns from one stop to the next, at most

// sliderWidth returns the length of the track. Every stop has at
// least one column, if there is room.
func sliderWidth(room, stops int) int { return max(2, min(room, 1+sliderStop*(stops-1))) }

// draw draws the threshold, and the number of entries that do
// not reach it.
func (s *slider) draw(c canvas) {
	stops, limit := sliderStops(s.w.session.Root().Hits), s.limit()
	at := 0
	for i, stop := range stops {
		if stop.Cmp(limit) <= 0 {
			at = i
		}
	}
	x := c.text(0, 0, " Threshold [ ", s.w.a.theme.plain)
	track := sliderWidth(c.width/2-x, len(stops))
	knob := at * (track - 1) / max(len(stops)-1, 1)
	line := c.part(x, 0, track, 1)
	line.text(0, 0, strings.Repeat("─", track), s.w.a.theme.dim)
	line.text(knob, 0, "●", s.w.a.theme.key)
	s.track = c.part(x-2, 0, track+4, 1) // with its brackets
	text := fmt.Sprintf(" ]  %s (cost %s)", report.CountedOf(s.w.session.Tree().Main(), limit),
		report.Cost(s.w.session.Tree().Main().Hits().Cost(limit)))
	x = c.text(x+track, 0, text, s.w.a.theme.plain)
	if hidden := s.hidden(); hidden > 0 {
		c.text(x, 0, fmt.Sprintf("  %d hidden", hidden), s.w.a.theme.bold)
	}
}

// hidden returns the number of entries that don't reach the threshold.
func (s *slider) hidden() (sum int) {
	for _, r := range s.w.entries.rows {
		if !s.w.session.Collapsed(r.entry) {
			sum += s.w.session.Hidden(r.entry)
		}
	}
	return sum
}

// slideTo moves the threshold to the stop at a column of the
// slider; a click on a bracket moves it by one stop.
func (s *slider) slideTo(column int, click bool) {
	stops := sliderStops(s.w.session.Root().Hits)
	track := max(s.track.width-5, 1)
	column -= 2
	if click && (column < 0 || column > track) {
		s.slide(column)
		return
	}
	at := (min(max(column, 0), track)*(len(stops)-1) + track/2) / track
	s.set(refine.Threshold{Hits: stops[at]})
}
