package tui

import (
	"fmt"
	"strings"

	"github.com/cpprof/cpprof/internal/config"
)

// mergeCommands are the commands that merge classes.
func (a *app) mergeCommands() []command {
	return []command{
		newCommand("merge NAME PATTERN...",
			"count the classes that match as one, such as io go:*.readLoop go:*.writeLoop",
			a.mergeCommand, nil),
		newCommand("merges save", "write the classes merged and split here into "+config.Name,
			a.saveMerges, words("save")),
	}
}

// mergeCommand merges the classes that match patterns.
func (a *app) mergeCommand(args string) error {
	fields := strings.Fields(args)
	if len(fields) < 2 {
		return fmt.Errorf("want a name and patterns of classes, such as: io go:*.readLoop go:*.writeLoop")
	}
	return a.merge(fields[0], fields[1:]...)
}

// saveMerges writes the merges made in the Analyzer to the configuration file,
// and removes the merges that were split. If there is no file, it makes one in
// the current folder.
func (a *app) saveMerges(args string) error {
	if args != "save" {
		return fmt.Errorf("want 'merges save'")
	}
	fresh, gone := a.ownMerges(), a.splitHere()
	if len(fresh) == 0 && len(gone) == 0 {
		return fmt.Errorf("no class was merged or split here: in the Summary, Space marks classes, and M merges them")
	}
	err := a.saveConfig(func(file string) error { return config.SaveMerges(file, gone, fresh...) })
	if err == nil {
		a.givenMerges = a.config.Merges
	}
	return err
}
