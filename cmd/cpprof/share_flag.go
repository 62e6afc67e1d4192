package main

import (
	"math/big"

	"github.com/cpprof/cpprof/internal/share"
	"github.com/spf13/pflag"
)

// A shareFlag is the value of a flag that is a share of a whole or a number
// of hits. It is exact. The flag set reports a wrong value with the flag's
// name and the text.
type shareFlag struct {
	value *big.Rat // nil if the flag is not given and has no default
	text  string   // as it was typed
	read  func(string) (*big.Rat, error)
	kind  string // the name of the value in help
}

// addShare adds a flag that takes a share of a whole, at most 100 %.
func addShare(flags *pflag.FlagSet, f *shareFlag, name, byDefault, usage string) {
	f.add(flags, share.Parse, "share", name, byDefault, usage)
}

// addRatio adds a flag that takes a share that may be more than 100 %.
func addRatio(flags *pflag.FlagSet, f *shareFlag, name, byDefault, usage string) {
	f.add(flags, share.ParseRatio, "share", name, byDefault, usage)
}

func (f *shareFlag) add(flags *pflag.FlagSet, read func(string) (*big.Rat, error),
	kind, name, byDefault, usage string) {
	f.read, f.kind = read, kind
	if byDefault != "" {
		if err := f.Set(byDefault); err != nil {
			panic("--" + name + ": " + err.Error()) // a mistake in this program
		}
	}
	flags.Var(f, name, usage)
}

func (f *shareFlag) Set(text string) error {
	value, err := f.read(text)
	if err != nil {
		return err
	}
	f.value, f.text = value, text
	return nil
}

func (f *shareFlag) String() string { return f.text }
func (f *shareFlag) Type() string   { return f.kind }

// float returns the approximate value.
func (f *shareFlag) float() float64 {
	x, _ := f.value.Float64()
	return x
}

// percent returns a default value of another package in the form that a flag takes.
func percent(x float64) string { return share.Percent(new(big.Rat).SetFloat64(x)) }
