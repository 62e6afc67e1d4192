package edit

import (
	"cmp"
	"slices"
	"strings"
)

// maxSimilar limits the number of similar names, and maxCompared the length
// of the names that are compared.
const maxSimilar, maxCompared = 3, 200

// Similar returns the known names that are similar to one, the
// most similar first: one name is the end of the other, as
// Job.do is of example.com/work.(*Job).do, or a part of it, or
// few letters of the names or of a part between dots differ.
func Similar(name string, known []string) []string {
	type candidate struct {
		name     string
		distance int
	}
	var candidates []candidate
	for _, k := range known {
		if d, ok := similarity(name, k); ok {
			candidates = append(candidates, candidate{k, d})
		}
	}
	slices.SortFunc(candidates, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.name, b.name))
	})
	var names []string
	for _, c := range candidates[:min(len(candidates), maxSimilar)] {
		names = append(names, c.name)
	}
	return names
}

// similarity returns how far two names are apart, and reports
// whether they are similar at all.
func similarity(a, b string) (int, bool) {
	a, b = withoutReceivers.Replace(a), withoutReceivers.Replace(b)
	if len(a) > 2 && strings.HasSuffix(b, a) {
		return 0, true
	}
	a, b = strings.ToLower(a), strings.ToLower(b)
	if len(a) > 2 && strings.Contains(b, a) {
		return 1, true
	}
	if len(a) > maxCompared || len(b) > maxCompared {
		return 0, false
	}
	if len(a) > 3 && slices.ContainsFunc(strings.FieldsFunc(b, separates),
		func(part string) bool { return Distance(a, part) == 1 }) {
		return 2, true
	}
	limit := max(1, min(len(a), len(b))/4)
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return 0, false
	}
	d := Distance(a, b)
	return d, d <= limit
}

// withoutReceivers removes what Go writes around the type of a method.
var withoutReceivers = strings.NewReplacer("(*", "", ").", ".", "*", "")

func separates(r rune) bool { return strings.ContainsRune(".:/", r) }
