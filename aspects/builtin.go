package aspects

import (
	_ "embed"
	"sync"
)

//go:embed builtin.yaml
var builtinYAML []byte

// BuiltinYAML is the file that defines the built-in aspects: a config file like any other.
func BuiltinYAML() []byte { return append([]byte(nil), builtinYAML...) }

var builtin = sync.OnceValue(func() *Set {
	c, err := ParseConfig("builtin.yaml", builtinYAML)
	if err != nil {
		panic("aspects: " + err.Error()) // the file is part of this package, and tested
	}
	return c.Aspects
})

// Builtin gives the aspects that hold unless a config says otherwise.
func Builtin() *Set { return builtin() }
