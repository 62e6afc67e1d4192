package syncflow

// A Doubt is why it is not sure that a lock is held at a place
// in the code. If there are several reasons, it is the last of
// this list.
type Doubt uint8

const (
	NoDoubt Doubt = iota // it is held
	// a method of an interface was called, on the object that
	// the lock lies in
	CallsMethod
	// a function was called that is not known: a field, a
	// variable or an argument
	CallsFunc
	// another lock was released, or the same by an address that
	// is not known to be the same
	OtherRelease
	Unwinding  // deferred functions have run
	OnePath    // it is taken on one of two paths that meet, or released on one
	NoAddress  // its address is not known any more
	NotInFrame // nothing in the frame leads to it
	NumDoubts
)
