package report

import (
	"github.com/cpprof/cpprof/calltree"
	"github.com/cpprof/cpprof/views"
)

// Title names a view by the root of its tree and by how it was made: "Thread View of go:main.worker (observed
// accounting)".
func Title(root string, o views.Options) string {
	name := "Server View"
	if root != calltree.RootName {
		name = "Thread View of " + root
	}
	name += " (" + o.Accounting.String() + " accounting"
	if o.Granularity != views.ByFunction {
		name += ", by " + o.Granularity.String()
	}
	if o.Span != (views.Span{}) {
		name += ", from " + o.Span.From.String()
		if o.Span.To != 0 {
			name += " to " + o.Span.To.String()
		}
	}
	return name + ")"
}
