package sampler

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// run takes samples until the end, each at the cost that the
// function returns. It returns the times of the samples, the
// time that the target was halted, and the number of missed
// ticks.
func (p *pacer) run(end time.Duration, cost func(i int) (halt, work time.Duration)) (at []time.Duration, halted time.Duration, missed int64) {
	now := time.Duration(0)
	for {
		t, m := p.next(now)
		if t >= end {
			return at, halted, missed
		}
		missed += m
		h, w := cost(len(at))
		p.charge(h, 0)
		at = append(at, t)
		halted += h
		now = t + h + w
	}
}

func TestPacerPeriodic(t *testing.T) {
	p := newPacer(Options{Rate: 20})
	at, _, missed := p.run(time.Second, func(int) (h, w time.Duration) { return time.Millisecond, 0 })
	if len(at) != 20 || missed != 0 {
		t.Fatalf("%d samples, %d missed; want 20 and none", len(at), missed)
	}
	for i, x := range at {
		if x != time.Duration(i)*50*time.Millisecond {
			t.Errorf("sample %d at %v", i, x)
		}
	}
}

// A tick is missed, and counted, if the previous sample has not
// ended by then.
func TestPacerCountsMissed(t *testing.T) {
	p := newPacer(Options{Rate: 20})
	at, _, missed := p.run(time.Second, func(int) (h, w time.Duration) { return 0, 120 * time.Millisecond })
	if len(at) != 7 || missed != 12 { // only every third of 20 is taken: 0, 150 ms, ... 900 ms
		t.Fatalf("%d samples at %v, %d missed", len(at), at, missed)
	}
}

// With full jitter, each interval has one tick, uniformly
// distributed: mean 1/2, variance 1/12.
func TestPacerJitter(t *testing.T) {
	const n = 10000
	p := newPacer(Options{Rate: 10, Jitter: 1})
	at, _, missed := p.run(n*100*time.Millisecond, func(int) (h, w time.Duration) { return 0, 0 })
	if len(at)+int(missed) < n-1 || missed > n/100 {
		t.Fatalf("%d samples, %d missed of %d", len(at), missed, n)
	}
	var sum float64
	for i, x := range at {
		if i > 0 && x/(100*time.Millisecond) == at[i-1]/(100*time.Millisecond) {
			t.Fatalf("two samples in one interval: %v, %v", at[i-1], x)
		}
		sum += float64(x%(100*time.Millisecond)) / float64(100*time.Millisecond)
	}
	// Allow six standard deviations of the mean of uniform phases.
	if mean, limit := sum/float64(len(at)), 6*math.Sqrt(1.0/12/float64(len(at))); math.Abs(mean-0.5) > limit {
		t.Errorf("mean phase %v, want 0.5 within %v", mean, limit)
	}
}

// If all halts cost the same, whatever the cost, the halted
// share reaches the budget, within one halt, and is not much
// less.
func TestPacerBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		share := rapid.SampledFrom([]float64{0.001, 0.01, 0.1}).Draw(t, "share")
		halt := time.Duration(rapid.Int64Range(1, int64(time.Second)).Draw(t, "halt"))
		p := newPacer(Options{
			Rate:        rapid.Float64Range(0.1, 1000).Draw(t, "rate"),
			Jitter:      rapid.Float64Range(0, 1).Draw(t, "jitter"),
			MaxOverhead: share,
		})
		at, _, _ := p.run(max(100*p.interval, time.Duration(100*float64(halt)/share)), func(int) (h, w time.Duration) { return halt, 0 })
		overdrawn := share*float64(horizon)*3/4 + float64(halt)
		for i, x := range at {
			if spent := float64(i+1) * float64(halt); spent > share*float64(x+halt)*(1+1e-6)+overdrawn {
				t.Fatalf("sample %d at %v: %v halted", i, x, time.Duration(spent))
			}
		}
		if len(at) < 30 {
			t.Fatalf("only %d samples", len(at))
		}
	})
}

// Halts whose costs vary by a factor of ten stay within the
// budget in the long run.
func TestPacerBudgetUnsteady(t *testing.T) {
	p := newPacer(Options{Rate: 100, Jitter: 1, MaxOverhead: 0.01})
	end := 1000 * time.Second
	at, halted, missed := p.run(end, func(i int) (h, w time.Duration) {
		if i%7 == 0 {
			return 10 * time.Millisecond, 0
		}
		return time.Millisecond, 0
	})
	if s := float64(halted) / float64(end); s > 0.0101 || s < 0.009 {
		t.Errorf("%v halted", s)
	}
	if got := int64(len(at)) + missed; got < 99000 || got > 100000 {
		t.Errorf("%d samples and %d missed don't make 100000 ticks", len(at), missed)
	}
}

// In a recording of known length, one long halt on a busy
// machine neither breaks the budget nor stops the sampling.
func TestPacerPaysDebtSlowly(t *testing.T) {
	end := 5 * time.Second
	p := newPacer(Options{Rate: 100, MaxOverhead: 0.01, Duration: end})
	at, halted, _ := p.run(end, func(i int) (h, w time.Duration) {
		if i == 40 {
			return 20 * time.Millisecond, 0
		}
		return 200 * time.Microsecond, 0
	})
	if halted > 51*time.Millisecond {
		t.Errorf("%v halted of 50 ms allowed", halted)
	}
	for i := 1; i < len(at); i++ {
		if gap := at[i] - at[i-1]; gap > 500*time.Millisecond {
			t.Errorf("no sample for %v after %v", gap, at[i-1])
		}
	}
	if len(at) < 140 {
		t.Errorf("%d samples, of some 150 that the budget allows", len(at))
	}
}

// Whenever a recording of unknown length is ended, expensive
// halts at its beginning have used not much more than the
// allowed share of its time.
func TestPacerBudgetOfShortRecording(t *testing.T) {
	p := newPacer(Options{Rate: 100, MaxOverhead: 0.01})
	spent := time.Duration(0)
	at, _, _ := p.run(20*time.Second, func(i int) (h, w time.Duration) {
		if i%10 == 0 {
			return 4 * time.Millisecond, 0
		}
		return 200 * time.Microsecond, 0
	})
	for i, x := range at {
		// Three quarters of the budget for the time ahead, which
		// is half of the time so far, may be spent in advance,
		// and one more halt.
		if limit := 0.01*1.375*float64(x) + float64(4*time.Millisecond); x >= 2*time.Second && float64(spent) > limit {
			t.Fatalf("%v halted of %v", spent, x)
		}
		if spent += 200 * time.Microsecond; i%10 == 0 {
			spent += 3800 * time.Microsecond
		}
	}
	if len(at) < 300 {
		t.Errorf("only %d samples", len(at))
	}
}

// Cheap halts at the beginning don't pay for expensive ones later.
func TestPacerDoesNotSaveUp(t *testing.T) {
	p := newPacer(Options{Rate: 100, MaxOverhead: 0.01})
	var late time.Duration
	p.run(110*time.Second, func(i int) (h, w time.Duration) {
		if p.lastAt < 100*time.Second {
			return 10 * time.Microsecond, 0
		}
		late += 5 * time.Millisecond
		return 5 * time.Millisecond, 0
	})
	if late > 180*time.Millisecond { // 100 ms by the share, and what may be overdrawn meanwhile
		t.Errorf("%v halted in ten seconds", late)
	}
}

// The sampler's own processor time is bounded in the same way as halts.
func TestPacerCPU(t *testing.T) {
	p := newPacer(Options{Rate: 100, MaxCPU: 0.05})
	now, n := time.Duration(0), 0
	for now < 100*time.Second {
		now, _ = p.next(now)
		p.charge(0, 10*time.Millisecond) // so 5 samples a second are allowed
		n++
	}
	if n < 490 || n > 502 {
		t.Errorf("%d samples in 100 s, want about 500", n)
	}
}

// What is spent once is paid from half of the budget. In the
// end, the bound holds for all that was spent.
func TestPacerPaysForReading(t *testing.T) {
	const sample = time.Millisecond
	p := newPacer(Options{Rate: 1000, MaxCPU: 0.05})
	p.chargeOnce(300 * time.Millisecond)
	spent, now := time.Duration(0), time.Duration(0)
	for _, c := range []struct {
		to   time.Duration
		want time.Duration // for samples
	}{
		{2 * time.Second, 50 * time.Millisecond}, {12 * time.Second, 300 * time.Millisecond}, {20 * time.Second, 700 * time.Millisecond},
	} {
		for {
			at, _ := p.next(now)
			if now = at; at >= c.to {
				break
			}
			p.charge(0, sample)
			spent += sample
		}
		if spent < c.want*8/10 || spent > c.want*6/5+sample {
			t.Errorf("until %v, samples cost %v, want %v", c.to, spent, c.want)
		}
	}
}

// While the program is read, samples and reading together keep
// the bound, from the first seconds on. What is read in advance
// is paid by the end of the recording. A bound that gives way
// does so for the first half second of reading.
func TestPacerBoundsReading(t *testing.T) {
	const share, sample, step, toRead = 0.05, 2 * time.Millisecond, 3 * time.Millisecond, 2 * time.Second
	for _, c := range []struct {
		end, first time.Duration
	}{{0, 0}, {5 * time.Second, 0}, {200 * time.Second, 0}, {5 * time.Second, 500 * time.Millisecond}, {200 * time.Second, 500 * time.Millisecond}} {
		end := c.end
		p := newPacer(Options{Rate: 100, Jitter: 1, MaxCPU: share, Duration: end, Yield: c.first > 0, Lasting: true})
		read := 40 * time.Millisecond // the symbols, before the first sample
		samples := time.Duration(0)
		for now := time.Duration(0); ; {
			at, _ := p.next(now)
			if now = at; at >= 200*time.Second || end > 0 && at >= end {
				break
			}
			for read < min(p.mayLearn(now), toRead) {
				read += step
			}
			if read < c.first-step {
				t.Fatalf("%v read at first, want %v", read, c.first)
			}
			p.charge(0, sample)
			p.chargeOnce(read)
			samples += sample
			allowed := time.Duration(share*float64(now+horizon/2)) + 2*step + c.first // the debt of the first seconds is paid within the horizon
			if end == 0 {                                                             // a debt may grow with the recording
				allowed += time.Duration(share * float64(now/4))
			}
			if spent := samples + read; now >= 2*time.Second && spent > allowed {
				t.Fatalf("recording of %v: %v spent in %v, want %v at most", end, spent, now, allowed)
			}
		}
		if end == 5*time.Second && samples+read > 260*time.Millisecond+c.first {
			t.Errorf("%v spent in a recording of %v", samples+read, end)
		}
		if end > 5*time.Second && read < toRead {
			t.Errorf("only %v of %v read in %v", read, toRead, end)
		}
	}
}

// If no processor is idle, the target can spare little. There
// are still 20 samples a second if the bounds on halts, on
// processor time, and on what the target loses, 1 % of both
// processors, suffice for them, and fewer if they don't, but 5
// whatever the target loses. No other bound is exceeded.
func TestPacerFloor(t *testing.T) {
	const end = 100 * time.Second
	for _, c := range []struct {
		halt, cpu   time.Duration
		least, most float64 // samples a second
	}{
		{100 * time.Microsecond, 100 * time.Microsecond, 80, 101}, // two processors spare 100 of these
		{100 * time.Microsecond, 600 * time.Microsecond, 20, 25.2},
		{200 * time.Microsecond, 750 * time.Microsecond, 19.5, 21.8},
		{100 * time.Microsecond, 2200 * time.Microsecond, 8.2, 8.9}, // many goroutines
		{440 * time.Microsecond, 560 * time.Microsecond, 19, 20.6},
		{100 * time.Microsecond, 5 * time.Millisecond, 4.9, 5.7},
		{100 * time.Microsecond, 20 * time.Millisecond, 2.4, 2.6},
		{2 * time.Millisecond, time.Millisecond, 4.8, 5.1},
	} {
		for _, rate := range []float64{20, 25, 100, 1000} {
			for _, jitter := range []float64{0, 1} {
				p := newPacer(Options{Rate: rate, Jitter: jitter, MaxOverhead: 0.01, MaxCPU: 0.05, Yield: true, cpus: 2})
				p.spare.change(spared(0.05, 2, 0), 0)
				if c.cpu == 600*time.Microsecond {
					p.chargeOnce(time.Second) // reading the program
				}
				n, now := 0, time.Duration(0)
				for {
					at, _ := p.next(now)
					if at >= end {
						break
					}
					p.charge(c.halt, c.cpu)
					n++
					now = at + c.cpu
				}
				got, least := float64(n)/end.Seconds(), c.least
				if rate < 100 {
					least = min(least, 0.9*rate) // now and then a tick comes before the previous sample is over
				}
				if got < least || got > max(c.most, 20) {
					t.Errorf("%v halted, %v of processor time, rate %v, jitter %v: %v samples a second, want %v to %v",
						c.halt, c.cpu, rate, jitter, got, least, c.most)
				}
			}
		}
	}
}

// On a slow machine, the bound that is not the user's gives way
// to two samples a second, and to a hundred in all, but not to
// more than five times its share. A bound that the user sets
// never does.
func TestPacerGivesWay(t *testing.T) {
	for _, c := range []struct {
		end   time.Duration
		cost  time.Duration
		yield bool
		least int // of samples
		most  int
		share float64 // that is reported; 0: the bound holds
	}{
		{100 * time.Second, 10 * time.Millisecond, true, 450, 510, 0},
		{100 * time.Second, 50 * time.Millisecond, true, 180, 220, 0.1},
		{100 * time.Second, 115 * time.Millisecond, true, 180, 220, 0.23},
		{100 * time.Second, 250 * time.Millisecond, true, 90, 105, 0.25},
		{100 * time.Second, 115 * time.Millisecond, false, 35, 50, 0},
		{10 * time.Second, 15 * time.Millisecond, true, 90, 110, 0.15},
		{3 * time.Second, 4 * time.Millisecond, true, 58, 75, 0.09},
		{3 * time.Second, 15 * time.Millisecond, true, 40, 55, 0.25},
		{3 * time.Second, 15 * time.Millisecond, false, 8, 12, 0},
	} {
		end := c.end
		p := newPacer(Options{Rate: 100, Jitter: 1, MaxCPU: 0.05, Duration: end, Yield: c.yield, cpus: 2})
		p.yield(Options{MaxCPU: 0.05, cpus: 2}, 2, 0)
		n := 0
		for now := time.Duration(0); ; n++ {
			if now, _ = p.next(now); now >= end {
				break
			}
			p.charge(0, c.cost)
			now += c.cost
		}
		if n < c.least || n > c.most {
			t.Errorf("%v a sample, yield %v: %d samples, want %d to %d", c.cost, c.yield, n, c.least, c.most)
		}
		if got := p.bound(end); got.Flag != "--max-cpu" || math.Abs(got.Used-c.share) > 0.03 {
			t.Errorf("%v a sample, yield %v: %+v, want a used share of %v", c.cost, c.yield, got, c.share)
		}
	}
}

// A new share applies from the change on; what was allowed
// before stays allowed.
func TestBudgetChange(t *testing.T) {
	p := newPacer(Options{Rate: 1000, MaxCPU: 0.05})
	spend := func(from, to time.Duration) (spent time.Duration) {
		for now := from; ; {
			at, _ := p.next(now)
			if at >= to {
				return spent
			}
			p.charge(0, time.Millisecond)
			spent += time.Millisecond
			now = at + time.Millisecond
		}
	}
	from := time.Duration(0)
	for i, share := range []float64{0.05, 0.02, 0.05, 0.02, 0.01, 0.1} {
		to := from + 50*time.Second
		if i > 0 {
			p.cpu.change(share, from)
		}
		if got, want := spend(from, to).Seconds(), share*50; math.Abs(got-want) > 0.02*want+0.001 {
			t.Errorf("at most %v from %v to %v: %v s spent, want %v", share, from, to, got, want)
		}
		from = to
	}
}
