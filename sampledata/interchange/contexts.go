package interchange

import "github.com/cpprof/cpprof/views/calltree"

// contexts numbers the calling contexts of stacks: a context is
// a call at a place, from another context. It is the number of
// the call, less 1 for the root, which stands for no context.
type contexts struct {
	calls *calltree.Calls
	path  []int32 // the contexts of the last stack, outermost first
}

func newContexts() *contexts { return &contexts{calls: calltree.NewCalls(calltree.None)} }

func (c *contexts) len() int { return len(c.calls.List) - 1 }

// at returns the place of a context, and the one that it is
// called from; -1 if there is none.
func (c *contexts) at(context int32) (above, place int32) {
	call := c.calls.List[context+1]
	return call.Parent - 1, int32(call.Func)
}

// of returns the context of a stack, given its innermost frame
// first; -1 for an empty stack. Stacks that follow each other
// often have the same outer frames. of does not look them up
// again.
func (c *contexts) of(stack []int32) int32 {
	same, n := 0, len(stack)
	for ; same < len(c.path) && same < n; same++ {
		if _, place := c.at(c.path[same]); place != stack[n-1-same] {
			break
		}
	}
	c.path = c.path[:same]
	at := int32(-1)
	if same > 0 {
		at = c.path[same-1]
	}
	for i := n - 1 - same; i >= 0; i-- {
		at = c.call(at, stack[i])
		c.path = append(c.path, at)
	}
	return at
}

// call returns the context of a call.
func (c *contexts) call(above, place int32) int32 {
	return c.calls.Number(calltree.Call{Parent: above + 1, Func: calltree.Func(place)}) - 1
}
