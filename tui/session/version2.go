package session

import (
	"slices"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/refine"
)

// followContexts adapts a window of version 1 or 2. There, following a path led to immediate calls, "* A B", where it now
// leads to calls in place, "* A >B". If the window has no other refinements, followContexts changes all paths of its entries.
func followContexts(w Window) {
	var p *Profile
	switch w := w.(type) {
	case *Profile:
		p = w
	case *Comparison:
		p = &w.Profile
	default:
		return
	}
	for _, step := range p.Steps {
		if step.Kind != refine.KindFollow && step.Kind != refine.KindPrune {
			return
		}
	}
	for i := range p.Steps {
		if p.Steps[i].Kind == refine.KindFollow {
			p.Steps[i].Text = inPlace(p.Steps[i].Text)
		}
	}
	p.Selected = inPlace(p.Selected)
	for i, key := range p.Collapsed {
		p.Collapsed[i] = inPlace(key)
	}
	for i, label := range p.Labels {
		p.Labels[i], _ = callpath.Parse(inPlace(label.String()))
	}
}

// inPlace returns a path of immediate calls as one of calls in place. It returns any other text as it is.
func inPlace(text string) string {
	p, err := callpath.Parse(text)
	if err != nil || slices.Contains(p.Specs, callpath.Extended) {
		return text
	}
	for i := 1; i < len(p.Specs); i++ {
		p.Specs[i] = callpath.InPlace
	}
	return p.String()
}
