package tui

import (
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/views"
	"github.com/gdamore/tcell/v2"
)

// A theme is the look of the Analyzer on a terminal. The
// background is the terminal's own.
type theme struct {
	color bool

	plain, dim, bold tcell.Style
	selected         tcell.Style // the line, or the tab, that is highlighted
	bar              tcell.Style // the tabs' and buttons' background
	key              tcell.Style // on a button
	title, err       tcell.Style
	warning          tcell.Style                    // of something to know, not to act upon
	heat             [report.HeatLevels]tcell.Style // of a cost, warm first
	typed            [views.NumTypedTimes]tcell.Style
}

// heatIcons have different shapes, for screens without colours and for
// colour-blind users.
var heatIcons = [report.HeatLevels]string{"█", "▓", "▒", "░", "·"}

// A palette has the colours of heat and typed time. They are of
// middle lightness: readable on black and on white.
type palette struct {
	heat    [report.HeatLevels]tcell.Color
	typed   [views.NumTypedTimes]tcell.Color
	key     tcell.Color
	bar, on tcell.Color // a bar's background, and the text on it
}

var (
	palette16 = newPalette(tcell.PaletteColor, [...]int{9, 1, 3, 2, 6},
		[...]int{views.Run: 2, views.Load: 3, views.Prio: 5, views.Monitor: 1, views.Wait: 4},
		6, 4, 15)
	palette256 = newPalette(tcell.PaletteColor, [...]int{196, 202, 172, 71, 67},
		[...]int{views.Run: 71, views.Load: 172, views.Prio: 134, views.Monitor: 160, views.Wait: 67},
		38, 237, 253)
	paletteTrue = newPalette(func(rgb int) tcell.Color { return tcell.NewHexColor(int32(rgb)) },
		[...]int{0xe5383b, 0xee6c2b, 0xc98f16, 0x5a9e52, 0x5b88b5},
		[...]int{views.Run: 0x4f9d55, views.Load: 0xc98f16, views.Prio: 0xa55bc0,
			views.Monitor: 0xd0403f, views.Wait: 0x5b82ad},
		0x2e9ec2, 0x2f3640, 0xe6e6e6)
)

func newPalette(color func(int) tcell.Color, heat [report.HeatLevels]int,
	typed [views.NumTypedTimes]int, key, bar, on int) palette {
	p := palette{key: color(key), bar: color(bar), on: color(on)}
	for i, n := range heat {
		p.heat[i] = color(n)
	}
	for i, n := range typed {
		p.typed[i] = color(n)
	}
	return p
}

// newTheme returns the theme for a number of colours; there are
// none if it is 0, or if noColor is set.
func newTheme(colors int, noColor bool) *theme {
	plain := tcell.StyleDefault
	t := &theme{
		color: colors >= 8 && !noColor,
		plain: plain, dim: plain.Dim(true), bold: plain.Bold(true), selected: plain.Reverse(true),
		bar: plain, key: plain.Bold(true), title: plain.Bold(true), err: plain.Bold(true),
		warning: plain,
	}
	for i := range t.heat {
		t.heat[i] = plain.Bold(i < 2)
	}
	for i := range t.typed {
		t.typed[i] = plain
	}
	if !t.color {
		t.bar = plain.Underline(true)
		return t
	}
	p := &palette16
	switch {
	case colors > 256:
		p = &paletteTrue
	case colors == 256:
		p = &palette256
	}
	for i, c := range p.heat {
		t.heat[i] = plain.Foreground(c).Bold(i == 0)
	}
	for i, c := range p.typed {
		t.typed[i] = plain.Foreground(c)
	}
	t.bar = plain.Background(p.bar).Foreground(p.on)
	t.key = plain.Foreground(p.key).Bold(true)
	t.title = t.key
	t.err = plain.Foreground(p.heat[0]).Bold(true)
	t.warning = plain.Foreground(p.heat[2])
	return t
}

// typedCell returns a cell of a bar for a typed time: a block in
// its colour, or its letter.
func (t *theme) typedCell(typed views.TypedTime) (string, tcell.Style) {
	if t.color {
		return "█", t.typed[typed]
	}
	return typed.Letter(), t.plain
}
