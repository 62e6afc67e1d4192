package main

import (
	"strconv"

	"github.com/hashicorp/memberlist"
)

type change struct {
	name string
	body []byte
}

func (c *change) Invalidates(other memberlist.Broadcast) bool {
	o, ok := other.(*change)
	return ok && o.name == c.name
}

func (c *change) Name() string    { return c.name }
func (c *change) Message() []byte { return c.body }
func (c *change) Finished()       {}

// In a large cluster, many nodes change while their changes are gossiped.
func main() {
	q := &memberlist.TransmitLimitedQueue{NumNodes: func() int { return 5000 }, RetransmitMult: 4}
	for n := range 4000 {
		join(q, n)
	}
	kinds := []func(){func() { q.GetBroadcasts(2, 1400) }}
	for part := range 2 {
		n := 0
		kinds = append(kinds, func() {
			n++
			join(q, part*800+n%800)
		})
	}
	workers(0, kinds...)
}

func join(q *memberlist.TransmitLimitedQueue, n int) {
	q.QueueBroadcast(&change{strconv.Itoa(n), make([]byte, 100)})
}
