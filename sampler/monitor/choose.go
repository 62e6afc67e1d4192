package monitor

import (
	"fmt"
	"slices"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/monitor/variable"
)

// A Request is what somebody asks for: the name of a monitor
// ("heap.live"), of a performance event ("perf.instructions"),
// the address of an endpoint ("http://127.0.0.1:2112/metrics"),
// or an expression over the variables of the program
// ("len(main.queue)").
type Request struct {
	Text     string
	Required bool // if it can't be measured, there is to be no recording
}

// Choose returns the sources of the monitors that are asked for,
// with the built-in ones if they are wanted, too.
func Choose(builtin bool, requests []Request) ([]Source, error) {
	var chosen []Source
	if builtin {
		chosen = Builtin()
	}
	exprs := map[bool][]*variable.Expr{}
	var events []perfEvent
	for _, r := range once(requests) {
		if s, ok := named(r.Text); ok {
			if !slices.ContainsFunc(chosen,
				func(c Source) bool { return c.Monitors[0].Name == s.Monitors[0].Name }) {
				chosen = append(chosen, s)
			}
			continue
		}
		if list, ok, err := perfRequest(r.Text); ok {
			if err != nil {
				return nil, err
			}
			for _, e := range list {
				if !slices.Contains(events, e) {
					events = append(events, e)
				}
			}
			continue
		}
		if isEndpoint(r.Text) {
			chosen = append(chosen, endpoint(r.Text, r.Required))
			continue
		}
		e, err := variable.Parse(r.Text)
		if err != nil {
			return nil, fmt.Errorf("monitor %s: %w", r.Text, err)
		}
		exprs[r.Required] = append(exprs[r.Required], e)
	}
	if len(events) > 0 {
		chosen = append(chosen, performance(events))
	}
	for _, required := range []bool{true, false} {
		if list := exprs[required]; len(list) > 0 {
			chosen = append(chosen, variables(list, required))
		}
	}
	return chosen, nil
}

// once returns each request once. It is required if one of the
// same text is.
func once(requests []Request) (list []Request) {
	for _, r := range requests {
		i := slices.IndexFunc(list, func(o Request) bool { return o.Text == r.Text })
		if i < 0 {
			list = append(list, r)
		} else if r.Required {
			list[i].Required = true
		}
	}
	return list
}

// named returns the built-in source that has a monitor.
func named(name string) (Source, bool) {
	for _, s := range Builtin() {
		if slices.ContainsFunc(s.Monitors,
			func(m sampledata.Monitor) bool { return m.Name == name }) {
			return s, true
		}
	}
	return Source{}, false
}
