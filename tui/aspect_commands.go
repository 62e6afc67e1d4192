package tui

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/cpprof/cpprof/aspects"
	"github.com/cpprof/cpprof/internal/config"
)

// aspectCommands are the commands that define aspects in the Analyzer.
func (a *app) aspectCommands() []command {
	return []command{
		newCommand("aspect NAME PATTERN...",
			"define an aspect, such as queue main.(*queue).* !main.(*queue).len", a.defineAspect,
			nil),
		newCommand("aspects save", "write the aspects defined here into "+config.Name,
			a.saveAspects, words("save")),
	}
}

// defineAspect defines an aspect for all windows. Without patterns, it removes
// the named aspect.
func (a *app) defineAspect(args string) error {
	fields := strings.Fields(args)
	if len(fields) == 0 {
		return fmt.Errorf("want a name and patterns, such as: queue main.(*queue).*")
	}
	aspect, err := aspects.New(fields[0], fields[1:]...)
	if err != nil {
		return err
	}
	config := *a.config
	config.Aspects = config.Aspects.With(aspect)
	a.setConfig(config)
	return nil
}

// saveAspects writes the aspects defined in the Analyzer to the configuration
// file. If there is none, it makes one in the current folder.
func (a *app) saveAspects(args string) error {
	if args != "save" {
		return fmt.Errorf("want 'aspects save'")
	}
	fresh := defined(a.given, a.config.Aspects)
	if len(fresh) == 0 {
		return fmt.Errorf("no aspect was defined here: use 'aspect NAME PATTERN...' first")
	}
	err := a.saveConfig(func(file string) error { return config.SaveAspects(file, fresh...) })
	if err == nil {
		a.given = a.config.Aspects
	}
	return err
}

// saveConfig saves definitions of the Analyzer with a function that gets the
// name of the configuration file: that which is used, or a new one in the
// current folder.
func (a *app) saveConfig(save func(file string) error) error {
	file := a.config.File
	if file == "" {
		file = config.Name
	}
	if err := save(file); err != nil {
		return err
	}
	config := *a.config
	config.File = file
	a.config = &config
	if whole, err := filepath.Abs(file); err == nil {
		file = whole
	}
	a.say("Saved in %s", file)
	return nil
}
