package why

import (
	"time"

	"github.com/cpprof/cpprof/refine/hotspots"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// A Probed is what the samples say of a function while it was probed.
type Probed struct {
	// Inside is the mean number of goroutines that were in the
	// function, and Margin half the width of its interval of 95
	// %, with a sample as the unit.
	Inside float64 `json:"inside"`
	Margin float64 `json:"margin"`

	Samples int `json:"samples"` // while it was probed

	// Mean is the mean time of a call by Little's law: Inside
	// over the rate of calls. It is 0 if there were too few
	// samples or no calls, or if the function calls itself: the
	// rate is of all calls then, and Inside of the outermost
	// ones.
	Mean       time.Duration `json:"mean_ns,omitempty"`
	MeanMargin time.Duration `json:"mean_margin_ns,omitempty"`

	Recursive bool `json:"recursive,omitempty"` // a stack had the function more than once

	// Shares divide the time within the function by what its goroutines did.
	Running float64 `json:"running"`
	Ready   float64 `json:"ready"`
	Locked  float64 `json:"locked"`
	Waiting float64 `json:"waiting"`
}

// share returns the share of the time of what a goroutine does.
func (d *Probed) share(does views.Doing) *float64 {
	switch does.Time() {
	case views.Run:
		return &d.Running
	case views.Load:
		return &d.Ready
	case views.Monitor:
		return &d.Locked
	}
	return &d.Waiting
}

// minProbed is the number of samples below which Little's law is not used.
const minProbed = 10

// SamplesOf counts the goroutines that were in a probed
// function, from when its instrument was put in until it was
// taken out.
func SamplesOf(r *sampledata.Recording, p *sampledata.Probe) Probed {
	within := stacksWith(r, p.Function)
	first, end := r.Samples.Search(p.From), r.Samples.Search(p.To)
	d := Probed{Samples: max(0, end-first)}
	if d.Samples == 0 {
		return d
	}
	// the number of goroutines in each sample minus that in the
	// one before it
	steps := make([]int, d.Samples+1)
	total := 0
	for _, run := range r.Runs.All() {
		from, to := max(int(run.First), first), min(int(run.Last)+1, end)
		if from >= to || run.Stack == sampledata.NoStack || within[run.Stack] == 0 {
			continue
		}
		d.Recursive = d.Recursive || within[run.Stack] > 1
		steps[from-first]++
		steps[to-first]--
		n := to - from
		total += n
		*d.share(views.DoingOf(run)) += float64(n)
	}
	if total == 0 {
		return d
	}
	for _, share := range []*float64{&d.Running, &d.Ready, &d.Locked, &d.Waiting} {
		*share /= float64(total)
	}
	all, now := make([]hotspots.Observation, d.Samples), 0
	for i, step := range steps[:d.Samples] {
		now += step
		all[i] = hotspots.Observation{Weight: 1, Hits: float64(now), Base: 1}
	}
	inside := hotspots.RatioOf(all, 1)
	d.Inside = inside.Value
	d.Margin, _ = inside.Margin()
	if probed := p.To - p.From; p.Calls > 0 && d.Samples >= minProbed && !d.Recursive {
		d.Mean = time.Duration(d.Inside * float64(probed) / float64(p.Calls))
		d.MeanMargin = time.Duration(d.Margin * float64(probed) / float64(p.Calls))
	}
	return d
}

// stacksWith returns how often a function is in the stack of each node.
func stacksWith(r *sampledata.Recording, function string) []int {
	is := make([]bool, len(r.Functions))
	for i, f := range r.Functions {
		is[i] = f.Name == function
	}
	within := make([]int, len(r.Nodes))
	for i, n := range r.Nodes {
		if n.Parent != sampledata.NoStack {
			within[i] = within[n.Parent]
		}
		if is[n.Function] {
			within[i]++
		}
	}
	return within
}
