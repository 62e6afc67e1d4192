package interchange

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/google/pprof/profile"
	"pgregory.net/rapid"
)

// The sum of profiles is what pprof's own library makes of them.
func TestSum(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var theirs []*profile.Profile
		var ours []*sampledata.Recording
		var names []string
		for i := range rapid.IntRange(1, 4).Draw(rt, "profiles") {
			p := someProfile(rt)
			r := fixture.Must(readBytes(t, encoded(t, p).Bytes(), Options{}))(rt)
			theirs, ours, names = append(theirs, p), append(ours, r), append(names, fmt.Sprint(i))
		}
		merged := fixture.Must(profile.Merge(theirs))(rt)
		want := fixture.Must(readBytes(t, encoded(t, merged).Bytes(), Options{}))(rt)
		got := fixture.Must(Sum(ours, names))(rt)
		fixture.Check(rt, got.Check())
		if got, want := sortedRows(got), sortedRows(want); !slices.Equal(got, want) {
			rt.Fatalf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

// someProfile returns a profile with a few stacks of three
// functions, some of them more than once.
func someProfile(rt *rapid.T) *profile.Profile {
	p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}}, PeriodType: &profile.ValueType{}}
	for i, name := range rapid.Permutation([]string{"a", "b", "c"}).Draw(rt, "functions") {
		id := uint64(i + 1)
		f := &profile.Function{ID: id, Name: name}
		p.Function = append(p.Function, f)
		p.Location = append(p.Location, &profile.Location{ID: id, Address: 16 * id, Line: []profile.Line{{Function: f, Line: int64(name[0])}}})
	}
	for range rapid.IntRange(0, 8).Draw(rt, "samples") {
		s := &profile.Sample{Value: []int64{rapid.Int64Range(0, 9).Draw(rt, "count"), rapid.Int64Range(0, 1<<40).Draw(rt, "time")}}
		for _, i := range rapid.SliceOfN(rapid.IntRange(0, 2), 1, 3).Draw(rt, "stack") {
			s.Location = append(s.Location, p.Location[i])
		}
		if route := rapid.SampledFrom([]string{"", "/x", "/y"}).Draw(rt, "route"); route != "" {
			s.Label = map[string][]string{"route": {route}}
		}
		p.Sample = append(p.Sample, s)
	}
	return p
}

// sortedRows returns a line for each stack of a profile that
// weighs something.
func sortedRows(r *sampledata.Recording) []string {
	sums := make(map[string][]int64)
	for i, row := range strings.Split(strings.TrimSuffix(profileText(r), "\n"), "\n") {
		if len(r.Profile.Stacks) == 0 {
			break
		}
		stack := row[:strings.LastIndex(row, "]")+1]
		values := sums[stack]
		if values == nil {
			values = make([]int64, len(r.Profile.Quantities))
		}
		for k, v := range r.Profile.Row(i) {
			values[k] += v
		}
		sums[stack] = values
	}
	var lines []string
	for stack, values := range sums {
		if slices.Max(values) > 0 {
			lines = append(lines, fmt.Sprint(stack, values))
		}
	}
	slices.Sort(lines)
	return lines
}

func TestSumOfWhatCannotBeSummed(t *testing.T) {
	read := func(text string) *sampledata.Recording {
		r := fixture.Must(readBytes(t, []byte(text), Options{}))(t)
		return r
	}
	large := read(fmt.Sprintf("main;handle %d\n", int64(math.MaxInt64)))
	var profileOfView bytes.Buffer
	fixture.Check(t, WritePprof(&profileOfView, read("0 > main\n10 < main\n")))
	space := encoded(t, &profile.Profile{SampleType: []*profile.ValueType{{Type: "space", Unit: "bytes"}}})
	for _, c := range []struct {
		with *sampledata.Recording
		want string
	}{
		{large, "second: the sum of samples of a stack does not fit 64 bits"},
		{read(aDump), "second is no profile"},
		{read(space.String()), "the profiles count nothing in common: first counts samples (count), second counts space (bytes)"},
		{read(profileOfView.String()), "second was made of a view"},
	} {
		if _, err := Sum([]*sampledata.Recording{read("main;handle 1\n"), c.with}, []string{"first", "second"}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
