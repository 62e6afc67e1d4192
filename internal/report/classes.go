package report

import (
	"io"
	"math/big"
	"slices"

	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// classTable writes a line for each class.
func classTable(w io.Writer, columns []ClassColumn, classes []views.ClassSummary,
	width int) {
	t := &table{right: true, width: width}
	var heads []string
	for _, c := range columns {
		heads = append(heads, c.Name)
	}
	t.add(append(heads, "class")...)
	for i := range classes {
		var row []string
		for _, c := range columns {
			row = append(row, c.Text(c.Value(&classes[i])))
		}
		t.add(append(row, termtext.Printable(classes[i].Class))...)
	}
	t.write(w)
}

// fraction returns a/b, and 0 if b is 0.
func fraction(a, b *big.Rat) *big.Rat {
	if b.Sign() == 0 {
		return new(big.Rat)
	}
	return new(big.Rat).Quo(a, b)
}

// Classes are thread classes of a recording.
type Classes struct {
	Recording *sampledata.Recording
	List      []views.ClassSummary
	Width     int // of the screen; 0: names are not shortened
}

// Write writes a table: the number of goroutines, the instances, the mean
// number at a time, and the share of each typed time. The name, which can be
// long, comes last. Below the table it writes how much of all MONITOR time is
// attributed. A profile has other columns.
func (list *Classes) Write(w io.Writer) {
	if list.Recording.Profile != nil {
		classTable(w, ProfileNumbers(list.Recording), list.List, list.Width)
		return
	}
	classTable(w, slices.Concat(ClassNumbers, ClassShares), list.List, list.Width)
	waited, attributed := new(big.Rat), new(big.Rat)
	for _, c := range list.List {
		waited.Add(waited, c.Parts[views.Monitor])
		attributed.Add(attributed, c.Attributed.Weight)
	}
	if waited.Sign() == 0 {
		return
	}
	termtext.Fprintf(w, "%s of all MONITOR time is attributed to holders of the locks\n",
		percent(fraction(attributed, waited)))
}

// classJSON is a class as data.
type classJSON struct {
	Class      string  `json:"class"`
	Goroutines int     `json:"goroutines"`
	Instances  int64   `json:"instances"`
	MeanAlive  float64 `json:"mean_alive"`
	// the share of waiting for work, of the whole lifetime
	Idle     float64             `json:"idle"`
	Shares   map[string]float64  `json:"shares"`
	Lifetime *big.Rat            `json:"lifetime_ns"` // exact, as all that follows: "5/2"
	Time     map[string]*big.Rat `json:"time_ns"`
	Hits     map[string]*big.Rat `json:"hits"`

	// Of the MONITOR hits and time, those whose lock has a known holder.
	Attributed     *big.Rat `json:"attributed"`
	AttributedTime *big.Rat `json:"attributed_ns"`
}

// WriteJSON writes the same as JSON.
func (list *Classes) WriteJSON(w io.Writer) error {
	if list.Recording.Profile != nil {
		return profileClassesJSON(w, list.Recording, list.List)
	}
	return writeJSON(w, struct {
		Classes []classJSON `json:"classes"`
		Basis
	}{classesAsJSON(list.List), BasisOf(list.Recording)})
}

func classesAsJSON(classes []views.ClassSummary) []classJSON {
	list := make([]classJSON, 0, len(classes))
	for i := range classes {
		list = append(list, classAsJSON(&classes[i]))
	}
	return list
}

func classAsJSON(c *views.ClassSummary) classJSON {
	j := classJSON{
		Class: c.Class, Goroutines: c.Goroutines, Instances: c.Hits, MeanAlive: float(c.MeanAlive),
		Idle:   float(c.IdleShare()),
		Shares: map[string]float64{}, Lifetime: c.Time, Time: map[string]*big.Rat{},
		Hits:       map[string]*big.Rat{},
		Attributed: c.Attributed.Hits, AttributedTime: c.Attributed.Weight,
	}
	shares := c.Shares()
	for t := range views.NumTypedTimes {
		j.Time[t.Name()], j.Hits[t.Name()] = c.Parts[t], c.HitParts[t]
		j.Shares[t.Name()] = float(shares[t])
	}
	return j
}
