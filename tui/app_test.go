package tui

import "testing"

func TestTheSummaryComesFirst(t *testing.T) {
	b := newBench(t, bob(t))
	b.shows(" 1 Summary", "bob.(*terminal).run", "? Help", "q Quit")
}

func TestHelpListsTheBindings(t *testing.T) {
	b := newBench(t, bob(t))
	b.keys("?")
	b.shows("Keys of this window")
	b.keys("PgDn")
	b.shows("Keys of every window")
	b.keys("Esc")
	b.hides("Keys of this window")
	b.click("Help")
	b.shows("Keys of this window")
}
