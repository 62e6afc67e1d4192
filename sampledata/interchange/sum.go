package interchange

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/internal/intern"
	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/sampledata"
)

// Sum returns the profile of several ones together: the weight
// of a stack is the sum of its weights. Quantities that only
// some profiles count are left out. Sum fails if nothing is
// left, or if a sum does not fit 64 bits. It fails for
// recordings of samples. It fails for profiles that were made of
// a view, because their fractions are of different wholes. The
// names are for errors.
func Sum(list []*sampledata.Recording, names []string) (*sampledata.Recording, error) {
	s := &summing{weighing: newWeighing(nil)}
	if err := s.quantities(list, names); err != nil {
		return nil, err
	}
	for i, r := range list {
		if err := s.add(r); err != nil {
			return nil, fmt.Errorf("%s: %w", names[i], err)
		}
	}
	return s.recording(list[0].Profile.Main().Name, "")
}

// A summing adds profiles to one.
type summing struct {
	*weighing
	rows intern.List[summedRow, int]
}

// A summedRow tells the rows of a profile apart.
type summedRow struct {
	context int32
	labels  sampledata.LabelSetID
}

// quantities makes the quantities that all profiles count, in
// the order of the first one.
func (s *summing) quantities(list []*sampledata.Recording, names []string) error {
	for i, r := range list {
		switch {
		case r.Profile == nil:
			return fmt.Errorf("%s is no profile: only profiles can be summed", names[i])
		case r.Profile.FromView:
			return fmt.Errorf("%s was made of a view: sum what that was made of", names[i])
		}
		for _, q := range r.Profile.Quantities {
			if q.Part || q.Rest != 0 || q.Parts != 1 || q.Whole != nil {
				return fmt.Errorf("%s: %s has fractions, which can't be summed", names[i], q.Name)
			}
		}
	}
	p := s.rec.Profile
	for _, q := range list[0].Profile.Quantities {
		if everywhere(q, list) {
			p.Quantities = append(p.Quantities, q)
		}
	}
	if len(p.Quantities) == 0 {
		var counted []string
		for i, r := range list {
			counted = append(counted, fmt.Sprintf("%s counts %s", names[i], counts(r.Profile)))
		}
		return errors.New("the profiles count nothing in common: " + strings.Join(counted, ", "))
	}
	p.Title, p.Root = list[0].Profile.Title, list[0].Profile.Root
	return nil
}

// counts names what a profile counts: "samples (count) and cpu (nanoseconds)".
func counts(p *sampledata.Profile) string {
	list := lists.Each(p.Quantities, func(q sampledata.Quantity) string {
		return fmt.Sprintf("%s (%s)", q.Name, q.Unit)
	})
	return strings.Join(list, " and ")
}

func everywhere(q sampledata.Quantity, list []*sampledata.Recording) bool {
	return !slices.ContainsFunc(list,
		func(r *sampledata.Recording) bool { return quantity(r.Profile, q) < 0 })
}

// quantity returns the number of a profile's quantity with the
// name and unit of another one; -1 if it has none.
func quantity(p *sampledata.Profile, like sampledata.Quantity) int {
	return slices.IndexFunc(p.Quantities, func(q sampledata.Quantity) bool {
		return q.Name == like.Name && q.Unit == like.Unit
	})
}

// add adds the rows of a profile.
func (s *summing) add(r *sampledata.Recording) error {
	contexts := s.contextsOf(r)
	p := s.rec.Profile
	from := lists.Each(p.Quantities, // by quantity of the sum
		func(q sampledata.Quantity) int { return quantity(r.Profile, q) })
	for i, stack := range r.Profile.Stacks {
		labels := s.labels.LabelSet(r.LabelSets[r.Profile.Labels[i]])
		at := summedRow{contexts[stack+1], labels}
		row := s.rows.Number(at)
		if row == len(p.Stacks) {
			s.weighing.add(at.context, at.labels, make([]int64, len(from))...)
		}
		values := p.Row(row)
		for k, source := range from {
			more := r.Profile.Row(i)[source]
			if more > 0 && values[k] > math.MaxInt64-more || more < 0 &&
				values[k] < math.MinInt64-more {
				return fmt.Errorf("the sum of %s of a stack does not fit 64 bits",
					p.Quantities[k].Name)
			}
			values[k] += more
		}
	}
	return nil
}

// contextsOf adds the stacks of a recording, and returns their
// contexts in the sum. The first is of NoStack, the others of
// the recording's nodes.
func (s *summing) contextsOf(r *sampledata.Recording) []int32 {
	contexts := make([]int32, len(r.Nodes)+1)
	for i, n := range r.Nodes {
		at := frame{s.function(r.Functions[n.Function]), n.Line, n.Inlined}
		contexts[i+1] = s.under(contexts[n.Parent+1], s.places.Number(at))
	}
	return contexts
}
