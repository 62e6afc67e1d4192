// Package demo describes the four problems of the server that
// "cpprof demo" records (cmd/cpprof, orderdesk.go).
package demo

import (
	"bytes"
	_ "embed"
	"math/big"
)

//go:embed cpprof.yaml
var configYAML []byte

// Config returns a config file (see package config) that defines
// the demo's own aspect, @queue.
func Config() []byte { return bytes.Clone(configYAML) }

// A Problem is a problem that the demo has on purpose.
type Problem struct {
	Name     string // a few words
	Lesson   string // what a person should do about it
	Evidence []Evidence
}

// Evidence is a call path that shows a problem.
type Evidence struct {
	View string // "*" for the Server View, else the class of a Thread View
	Path string // in call path notation, with the aspects of Config
	// the least cost in a recording of some 100 samples, on any
	// machine; about half of the usual cost
	Least *big.Rat

	// Holders says that the path exists only if the sampler
	// knows who holds a lock.
	Holders bool
}

// Truth lists the four problems. Each costs well over ten hits
// in a recording of 100 samples.
func Truth() []Problem {
	least := func(percent int64) *big.Rat { return big.NewRat(percent, 100) }
	return []Problem{{
		Name:   "a lock held over I/O",
		Lesson: "main.(*journal).flush writes to a slow disk while it holds the lock that every worker needs: exchange the block under the lock, write it outside",
		Evidence: []Evidence{
			{View: "go:main.worker", Path: "go:main.worker ..main.(*journal).add ..:MONITOR",
				Least: least(35)},
			{View: "go:main.worker",
				Path:  "go:main.worker ..:MONITOR go:main.flusher ..os.(*File).Write",
				Least: least(30), Holders: true},
			{View: "go:main.flusher",
				Path:  "go:main.flusher ..main.(*journal).flush ..os.(*File).Write",
				Least: least(45)},
		},
	}, {
		Name:   "a quadratic queue",
		Lesson: "main.(*queue).push and size walk the whole list: keep its end and its length",
		Evidence: []Evidence{
			{View: "*", Path: "* ..@queue", Least: least(20)},
			{View: "*", Path: "* ..main.accept main.(*queue).push", Least: least(8)},
			{View: "*", Path: "* ..main.accept main.(*queue).size", Least: least(5)},
			{View: "go:main.intake", Path: "go:main.intake ..@queue", Least: least(12)},
		},
	}, {
		Name:   "an encoder that is called in vain",
		Lesson: "main.(*feed).trace encodes every order for a debug log that is off: check first whether it is on; the calls by main.(*feed).send are needed",
		Evidence: []Evidence{
			{View: "*", Path: "* ..main.(*encoder).encode", Least: least(25)},
			{View: "*", Path: "* ..main.(*feed).trace main.(*encoder).encode", Least: least(16)},
			{View: "*", Path: "* ..main.(*feed).send main.(*encoder).encode", Least: least(7)},
		},
	}, {
		Name:   "more runnable goroutines than processors",
		Lesson: "seven goroutines of intake and publisher share two processors: more of them don't make the server faster",
		Evidence: []Evidence{
			{View: "go:main.publisher", Path: "go:main.publisher ..:LOAD", Least: least(45)},
			{View: "go:main.intake", Path: "go:main.intake ..:LOAD", Least: least(40)},
		},
	}}
}
