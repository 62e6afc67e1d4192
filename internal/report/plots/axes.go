package plots

import (
	"image/color"
	"math"

	"github.com/cpprof/cpprof/internal/report"
)

var (
	black = color.RGBA{A: 255}
	grey  = color.RGBA{130, 130, 130, 255}
)

// Room around the area of the points, in points.
const (
	roomLeft   = 14 * letterWidth // of the numbers of the upward axis
	roomRight  = 14
	roomTop    = 16 // of a title
	roomBottom = 16 // of the numbers
)

// axes are the area of a plot's points, with what its edges stand for.
type axes struct {
	box
	x, y         Scale
	unitX, unitY string
}

// within returns axes that leave room for a title and numbers in a box.
func within(b box, x, y Scale, unitX, unitY string) axes {
	return axes{box{b.left + roomLeft, b.top + roomTop, b.right - roomRight, b.bottom - roomBottom},
		x, y, unitX, unitY}
}

// at returns where a pair of values is drawn.
func (a *axes) at(x, y float64) place {
	return place{a.left + a.x.share(x)*(a.right-a.left),
		a.bottom - a.y.share(y)*(a.bottom-a.top)}
}

// draw draws the axes with their numbers, and a title above.
func (a *axes) draw(c canvas, title string) {
	c.text(place{(a.left + a.right) / 2, a.top - 5}, .5, title, black)
	const tick = 3
	lines := [][]place{{{a.left, a.top}, {a.left, a.bottom}, {a.right, a.bottom}}}
	wide := 16.0 * letterWidth
	for _, x := range a.x.ticks((a.right - a.left) / wide) {
		at := a.at(x, a.y.Low)
		at.y = a.bottom
		lines = append(lines, []place{at, {at.x, at.y + tick}})
		c.text(place{at.x, at.y + tick + letterSize}, .5, report.InUnit(x, a.unitX), black)
	}
	for _, y := range a.y.ticks((a.bottom - a.top) / (2.5 * letterSize)) {
		at := a.at(a.x.Low, y)
		at.x = a.left
		lines = append(lines, []place{at, {at.x - tick, at.y}})
		c.text(place{at.x - tick - 2, at.y + letterSize/3}, 1, report.InUnit(y, a.unitY), black)
	}
	c.lines(lines, .5, grey)
}

// ticks returns round numbers within a scale, about as many as
// there is room for.
func (s Scale) ticks(room float64) []float64 {
	width := s.High - s.Low
	switch {
	case width == 0:
		return []float64{s.Low}
	case math.IsInf(width, 0):
		return []float64{s.Low, s.High}
	}
	least := width / max(1, room)
	step := math.Pow(10, math.Floor(math.Log10(least)))
	for _, by := range []float64{2, 2.5, 2} { // 1, 2, 5, 10
		if step >= least {
			break
		}
		step *= by
	}
	first, last := math.Ceil(s.Low/step), math.Floor(s.High/step)
	n := last - first
	if !(n >= 0 && n <= room+2) { // no round number between the ends, or a step of 0
		return []float64{s.Low, s.High}
	}
	list := make([]float64, int(n)+1)
	for i := range list { // adding 1 to a large number may not change it
		list[i] = (first + float64(i)) * step
	}
	return list
}
