package config

import (
	_ "embed"
	"sync"

	"github.com/cpprof/cpprof/aspects"
)

//go:embed builtin.yaml
var builtinYAML []byte

// BuiltinYAML returns the config file that defines the built-in aspects and
// wrappers.
func BuiltinYAML() []byte { return append([]byte(nil), builtinYAML...) }

var builtin = sync.OnceValue(func() *Config {
	c, err := Parse("builtin.yaml", builtinYAML)
	if err != nil {
		// can't happen: the file is part of this package, and tested
		panic("config: " + err.Error())
	}
	return c
})

// Builtin returns the aspects that apply unless a config redefines them.
func Builtin() *aspects.Set { return builtin().Aspects }
