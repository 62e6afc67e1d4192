package tui

import (
	"fmt"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampledata/interchange"
	"github.com/cpprof/cpprof/tui/session"
	"github.com/cpprof/cpprof/views"
)

// againstCommand is the command that compares the Summary, and
// all windows that are opened from then on, with another
// recording.
func (a *app) againstCommand(w window) command {
	return newCommand("against RECORDING | none",
		"compare the Summary, and the windows opened from now on, with another recording",
		func(path string) error {
			switch path {
			case "":
				return fmt.Errorf("want the recording to compare with, or none")
			case "none":
				a.compareWith("")
				return nil
			}
			a.readOther(w, path, func() { a.compareWith(path) })
			return nil
		}, oneOf("none"))
}

// readOther reads another recording, again if it was read before.
func (a *app) readOther(w window, path string, then func()) {
	attempt(a, w, "Reading "+path,
		func() (*sampledata.Recording, error) { return interchange.ReadRecording(path) },
		func(r *sampledata.Recording) {
			a.others.Add(path, r)
			then()
		}, a.fail)
}

// compareWith sets the other recording of the Summary, of the
// locks, and of windows opened from then on; "" is none.
func (a *app) compareWith(path string) {
	a.against = path
	a.changed()
}

// comparing returns what a function makes of a recording and of
// the one that it is compared with. It may read the second one.
func comparing[T any](a *app, r *sampledata.Recording, o views.Options, against string,
	of func(one, other views.Named, o views.Options) (T, error)) (made T, err error) {
	other, err := a.others.Open(against)
	if err != nil {
		return made, fmt.Errorf("comparing with %s: %w", against, err)
	}
	return of(views.Named{Name: a.path, Recording: r},
		views.Named{Name: against, Recording: other}, o)
}

// openOnly opens the Thread View of a class that only one of the
// recordings has, if that is this one.
func (a *app) openOnly(class *views.ClassPair) {
	if class.New == nil {
		a.say("Only %s has goroutines of this class.", a.against)
		return
	}
	openProfile(a, session.Profile{Class: class.Class, Threshold: a.threshold})
	a.say("%s has no goroutine of this class: this is %s alone.", a.against, a.path)
}
