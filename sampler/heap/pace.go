package heap

import "time"

// A pace bounds the CPU time that marking takes.
type pace struct {
	most float64       // of one CPU
	owed time.Duration // how long to sleep
}

// slice is how long marking goes on before it sleeps.
const slice = 2 * time.Millisecond

// spent takes note of work, and sleeps if it was too much.
func (p *pace) spent(work time.Duration) {
	if p.most <= 0 || p.most >= 1 {
		return
	}
	p.owed += time.Duration(float64(work) * (1/p.most - 1))
	if p.owed > slice {
		begin := time.Now()
		time.Sleep(p.owed)
		p.owed -= time.Since(begin)
	}
}
