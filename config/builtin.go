package config

import (
	_ "embed"
	"sync"

	"github.com/cpprof/cpprof/aspects"
)

//go:embed builtin.yaml
var builtinYAML []byte

// BuiltinYAML is the file that defines the built-in aspects: a config file like any other.
func BuiltinYAML() []byte { return append([]byte(nil), builtinYAML...) }

var builtin = sync.OnceValue(func() *aspects.Set {
	c, err := Parse("builtin.yaml", builtinYAML)
	if err != nil {
		panic("config: " + err.Error()) // the file is part of this package, and tested
	}
	return c.Aspects
})

// Builtin returns the aspects that hold unless a config says otherwise.
func Builtin() *aspects.Set { return builtin() }
