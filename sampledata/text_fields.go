package sampledata

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cpprof/cpprof/internal/lists"
)

// A field is a part of a line of text: a word at its place,
// KEY=WORD, or a flag. One list of fields says how a line is
// written and how it is read.
type field struct {
	form  fieldForm
	name  string // the key; of a word at its place, what it is
	value textValue
}

type fieldForm uint8

const (
	placed fieldForm = iota
	keyed
	flagged
)

// A textValue is a value in memory that a word stands for.
type textValue interface {
	// word returns the word, and whether the value is the one
	// that readers assume if the word is left out.
	word() (word string, usual bool)
	set(t token) error
}

func arg(what string, v textValue) field { return field{placed, what, v} }
func key(name string, v textValue) field { return field{keyed, name, v} }
func flag(name string, to *bool) field   { return field{flagged, name, (*truth)(to)} }

// A truth is set by a flag.
type truth bool

func (v *truth) word() (string, bool) { return "", !bool(*v) }
func (v *truth) set(token) error      { *v = true; return nil }

type plain string

func (v *plain) word() (string, bool) { return string(*v), *v == "" }
func (v *plain) set(t token) error    { *v = plain(t.word); return nil }

// whole is the value of an integer.
func whole[N int | int32 | int64](to *N) textValue { return integer[N]{to} }

type integer[N int | int32 | int64] struct{ to *N }

func (v integer[N]) word() (string, bool) { return strconv.FormatInt(int64(*v.to), 10), *v.to == 0 }

func (v integer[N]) set(t token) error {
	n, err := strconv.ParseInt(t.word, 10, 64)
	if err == nil && int64(N(n)) == n {
		*v.to = N(n)
		return nil
	}
	bits := 64
	if _, ok := any(*v.to).(int32); ok {
		bits = 32
	}
	return t.errorf("%q is not a %d-bit number", t.word, bits)
}

// setTo sets a value to what a word stands for. If the word
// stands for nothing, it returns an error in the format.
func setTo[V any](to *V, v V, err error, t token, format string) error {
	if err != nil {
		return t.errorf(format, t.word)
	}
	*to = v
	return nil
}

type tally uint64

func (v *tally) word() (string, bool) { return strconv.FormatUint(uint64(*v), 10), *v == 0 }

func (v *tally) set(t token) error {
	n, err := strconv.ParseUint(t.word, 10, 64)
	return setTo(v, tally(n), err, t, "%q is not a count")
}

type address uint64

func (v *address) word() (string, bool) { return fmt.Sprintf("%#x", uint64(*v)), *v == 0 }

func (v *address) set(t token) error {
	n, err := strconv.ParseUint(t.word, 0, 64)
	return setTo(v, address(n), err, t,
		"%q is not an address: want a number such as 0xc000012080")
}

type decimal float64

func (v *decimal) word() (string, bool) { return float(float64(*v)), *v == 0 }

func (v *decimal) set(t token) error {
	f, err := strconv.ParseFloat(t.word, 64)
	return setTo(v, decimal(f), err, t, "%q is not a number")
}

func float(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

type period time.Duration

// word returns the duration in ASCII, with "us" for microseconds.
func (v *period) word() (string, bool) {
	return strings.Replace(time.Duration(*v).String(), "µs", "us", 1), *v == 0
}

func (v *period) set(t token) error {
	d, err := time.ParseDuration(t.word)
	return setTo(v, period(d), err, t, "%q is not a duration: want one such as 1.5ms")
}

// A moment is a time of day.
type moment time.Time

func (v *moment) word() (string, bool) {
	return time.Time(*v).UTC().Format(time.RFC3339Nano), false
}

func (v *moment) set(t token) error {
	at, err := time.Parse(time.RFC3339Nano, t.word)
	return setTo(v, moment(at.UTC()), err, t,
		"%q is not a time: want one such as 2026-01-02T03:04:05Z")
}

// oneOf is the value of an enumeration.
func oneOf[E ~uint8](to *E, what string, names []string) textValue {
	return choice[E]{to, what, names}
}

type choice[E ~uint8] struct {
	to    *E
	what  string
	names []string
}

func (v choice[E]) word() (string, bool) {
	name := nameOf(v.names, int(*v.to))
	return name, name == "none"
}

func (v choice[E]) set(t token) error {
	i := slices.Index(v.names, t.word)
	if i < 0 {
		return t.errorf("unknown %s %q: want one of %s", v.what, t.word,
			strings.Join(v.names, ", "))
	}
	*v.to = E(i)
	return nil
}

// A reference is the code of a thing that lines above have defined.
type reference[C ~int32] struct {
	to     *C
	prefix string
	end    int // codes are below it
	usual  C   // the code that stands for nothing
}

func (v reference[C]) word() (string, bool) { return code(v.prefix, *v.to), *v.to == v.usual }

func (v reference[C]) set(t token) error {
	n, err := parseCode(t, v.prefix)
	if err != nil {
		return err
	}
	if n >= v.end {
		return t.errorf("%s%d has not been defined", v.prefix, n)
	}
	*v.to = C(n)
	return nil
}

// An orNone is a reference that may also be "-", for none.
type orNone[C ~int32] struct{ reference[C] }

func (v orNone[C]) set(t token) error {
	if t.word == "-" {
		*v.to = -1
		return nil
	}
	return v.reference.set(t)
}

func code[C ~int32 | ~int](prefix string, c C) string {
	if c < 0 {
		return "-"
	}
	return prefix + strconv.Itoa(int(c))
}

func parseCode(t token, prefix string) (int, error) {
	digits, ok := strings.CutPrefix(t.word, prefix)
	n, err := strconv.ParseUint(digits, 10, 31)
	if !ok || err != nil {
		return 0, t.errorf("%q is not a code: want one such as %s0", t.word, prefix)
	}
	return int(n), nil
}

// A definition is the code that a line defines: the next one.
type definition struct {
	prefix string
	next   int
}

func define(prefix string, next int) field { return arg("a code", definition{prefix, next}) }

func (v definition) word() (string, bool) { return code(v.prefix, v.next), false }

func (v definition) set(t token) error {
	n, err := parseCode(t, v.prefix)
	if err == nil && n != v.next {
		err = t.errorf("%s, but %s%d comes next", t.word, v.prefix, v.next)
	}
	return err
}

// numbers are joined with commas.
type numbers []int64

func (v *numbers) word() (string, bool) {
	words := lists.Each(*v, func(n int64) string { return strconv.FormatInt(n, 10) })
	return strings.Join(words, ","), len(words) == 0
}

func (v *numbers) set(t token) error {
	for word := range strings.SplitSeq(t.word, ",") {
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return t.errorf("%q is not a number", word)
		}
		*v = append(*v, n)
	}
	return nil
}

func (d *Distribution) word() (string, bool) {
	words := []string{strconv.FormatInt(d.Sum, 10), strconv.FormatInt(d.Min, 10),
		strconv.FormatInt(d.Max, 10)}
	for _, b := range d.Buckets {
		words = append(words, strconv.Itoa(int(b.Index))+":"+strconv.FormatUint(b.Count, 10))
	}
	return strings.Join(words, ","), len(d.Buckets) == 0
}

func (d *Distribution) set(t token) error {
	words := strings.Split(t.word, ",")
	if len(words) < 4 {
		return t.errorf("%q is not a distribution: want SUM,MIN,MAX,BUCKET:COUNT,...", t.word)
	}
	set := func(v textValue, word string) error {
		return v.set(token{word: word, column: t.column})
	}
	for i, n := range []*int64{&d.Sum, &d.Min, &d.Max} {
		if err := set(whole(n), words[i]); err != nil {
			return err
		}
	}
	for _, word := range words[3:] {
		index, count, _ := strings.Cut(word, ":")
		var b Bucket
		if err := set(whole(&b.Index), index); err != nil {
			return err
		}
		if err := set((*tally)(&b.Count), count); err != nil {
			return err
		}
		d.Buckets = append(d.Buckets, b)
	}
	return nil
}

// processors are what the processors run, joined with commas.
type processors struct {
	to  *[]GoroutineID
	end int
}

func (v processors) word() (string, bool) {
	words := make([]string, len(*v.to))
	for i, p := range *v.to {
		switch p {
		case IdleProcessor:
			words[i] = "idle"
		case SystemProcessor:
			words[i] = "system"
		default:
			words[i] = code("g", p)
		}
	}
	return strings.Join(words, ","), len(words) == 0
}

func (v processors) set(t token) error {
	for word := range strings.SplitSeq(t.word, ",") {
		var g GoroutineID
		switch word {
		case "idle":
			g = IdleProcessor
		case "system":
			g = SystemProcessor
		default:
			of := reference[GoroutineID]{&g, "g", v.end, 0}
			if err := of.set(token{word: word, column: t.column}); err != nil {
				return err
			}
		}
		*v.to = append(*v.to, g)
	}
	return nil
}
