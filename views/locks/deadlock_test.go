package locks

import "testing"

// A deadlock of one lock is a reader's that reads again. Of
// several locks, or without a reader, it is a circle.
func TestRereads(t *testing.T) {
	member := func(address uint64, function string) Member {
		return Member{address: address, Stack: []Frame{{Function: function}}}
	}
	reads, writes := "sync.(*RWMutex).RLock", "sync.(*RWMutex).Lock"
	for want, members := range map[string][]Member{
		reads: {member(0x10, writes), member(0x10, reads)},
		"":    {member(0x10, writes), member(0x20, reads)},
	} {
		got := ""
		if m := (&Deadlock{Members: members}).Rereads(); m != nil {
			got = m.Stack[0].Function
		}
		if got != want {
			t.Errorf("%v: %q reads again, want %q", members, got, want)
		}
	}
	if m := (&Deadlock{Members: []Member{member(0x10, writes)}}).Rereads(); m != nil {
		t.Errorf("one that waits for itself reads again: %v", m)
	}
}
