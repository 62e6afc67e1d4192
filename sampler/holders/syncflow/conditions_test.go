package syncflow

import (
	"slices"
	"testing"
)

// A lock that is taken under a condition is held if the
// condition is true in the sample.
func TestConditions(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64"} {
		a := analyzer(t, build(t, arch))
		for _, function := range []string{
			"main.(*wrapped).use", "main.(*wrapped).useDeferred", "main.(*thing).maybe", "main.(*thing).conditionalDefer",
		} {
			for _, p := range during(t, a, function, "main.work", "main.use") {
				if len(p.held) != 1 || p.held[0].under == nil || len(p.doubtful) != 0 || p.unknown {
					t.Errorf("%s, %s: %v are held, and %v may be", arch, function, p.held, p.doubtful)
				}
			}
		}
	}
}

// Two states are joined: l is taken in the first, and not in the second.
func TestJoinUnderCondition(t *testing.T) {
	vs := newValues()
	l, flag, other := vs.entry(1), vs.low(vs.entry(2)), vs.low(vs.entry(3))
	free := condition{v: flag, mask: 0xff, zero: true}
	odd := condition{v: other, mask: 0xff, zero: true}
	state1 := func(facts ...condition) *state {
		s := &state{}
		s.acquire(l, Write)
		s.setSlot(-8, l)
		for _, c := range facts {
			s.addFact(c)
		}
		return s
	}
	state2 := func(facts ...condition) *state {
		s := &state{}
		for _, c := range facts {
			s.addFact(c)
		}
		return s
	}
	joined := func(s *state, others ...*state) *state {
		for _, o := range others {
			s.join(vs, o)
		}
		return s
	}
	for _, c := range []struct {
		name  string
		s     *state
		under condition
		doubt Doubt
	}{
		{"by the condition", joined(state1(free), state2(free.not())), free, NoDoubt},
		{"the other way round", joined(state2(free.not()), state1(free)), free, NoDoubt},
		{"by one of two conditions", joined(state1(odd, free), state2(free.not())), free, NoDoubt},
		{"both are possible there", joined(state1(free), state2()), condition{}, OnePath},
		{"not the opposite", joined(state1(free), state2(free)), condition{}, OnePath},
		{"a third path without it", joined(state1(free), state2(free.not()), state2(free.not())), free, NoDoubt},
		{"a third path by another condition", joined(state1(free), state2(free.not()), state2(odd)), condition{}, OnePath},
		{"a third path with it", joined(state1(free), state2(free.not()), state1(free)), free, NoDoubt},
		{"a third path with it, always", joined(state1(free), state2(free.not()), state1()), condition{}, OnePath},
	} {
		if len(c.s.holds) != 1 || c.s.holds[0].under != c.under || c.s.holds[0].doubt != c.doubt {
			t.Errorf("%s: %+v", c.name, c.s.holds)
		}
	}

	s := joined(state1(free), state2(free.not()))
	if s.slot(-8) != 0 || s.assume(free).slot(-8) != l || s.assume(free.not()).slot(-8) != 0 {
		t.Error("where the lock lies is known if it is not held, or not if it is")
	}
	if taken := s.assume(free); len(taken.holds) != 1 || !taken.holds[0].sure() {
		t.Errorf("under the condition: %+v", taken.holds)
	}
	if skipped := s.assume(free.not()); len(skipped.holds) != 0 {
		t.Errorf("under the opposite: %+v", skipped.holds)
	}
	s.dropConditions(func(v value) bool { return v == flag })
	if h := s.holds[0]; h.doubt != OnePath || h.under != (condition{}) || len(s.conditional) != 0 {
		t.Errorf("after the byte has changed: %+v, %v", h, s.conditional)
	}
}

// A helper takes a lock under a condition, which its caller may
// know or not.
func TestAcquireUnder(t *testing.T) {
	w := &flow{values: newValues()}
	vs := w.values
	l, flag := vs.entry(1), vs.low(vs.entry(2))
	c := condition{v: flag, mask: 0xff, zero: true}
	one := condition{v: vs.constant(1), mask: 0xff}
	for _, test := range []struct {
		name  string
		fact  condition
		under condition
		want  []hold
	}{
		{"it can be found out", condition{}, c, []hold{{lockName: lockName{lock: l}, under: c}}},
		{"it is true", c, c, []hold{{lockName: lockName{lock: l}}}},
		{"it is false", c.not(), c, nil},
		{"it is not known", condition{}, condition{mask: 0xff}, nil},
		{"it is always true", condition{}, one, []hold{{lockName: lockName{lock: l}}}},
		{"it is never true", condition{}, one.not(), nil},
	} {
		s := &state{}
		if test.fact.v != 0 {
			s.addFact(test.fact)
		}
		if w.acquireUnder(s, l, Write, test.under); !slices.Equal(s.holds, test.want) {
			t.Errorf("%s: %+v, want %+v", test.name, s.holds, test.want)
		}
	}
}
