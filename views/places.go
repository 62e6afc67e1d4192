package views

import (
	"strconv"
	"strings"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views/calltree"
)

// A Place has what is known of a frame beside its name: see
// Options.Places.
type Place struct {
	Function sampledata.FunctionID // of the recording; -1 for a frame that is no function
	Line     int32                 // being executed, or of the call; 0 if not known
	Inlined  bool                  // into its caller
	Lock     string                // of a frame :MONITOR, the lock; "" if not known
}

// placeMark comes between the name of a frame and its place.
const placeMark = "\x00"

// placed returns the name of a function's frame with its place.
func placed(name string, n *sampledata.Node) string {
	b := append([]byte(name), placeMark...)
	b = append(strconv.AppendInt(b, int64(n.Function), 10), ':')
	b = strconv.AppendInt(b, int64(n.Line), 10)
	if n.Inlined {
		b = append(b, 'i')
	}
	return string(b)
}

// SplitPlace returns the name and the place of a frame in a view
// that was made with Options.Places.
func SplitPlace(frame string) (name string, p Place) {
	p.Function = -1
	at := strings.LastIndex(frame, placeMark)
	switch kind := calltree.KindOf(frame); {
	case at < 0:
		return frame, p
	case kind == calltree.Typed && frame[:at] == Monitor.String():
		p.Lock = frame[at+len(placeMark):]
		return frame[:at], p
	case kind != calltree.Function:
		return frame, p
	}
	rest, inlined := strings.CutSuffix(frame[at+len(placeMark):], "i")
	function, line, _ := strings.Cut(rest, ":")
	f, _ := strconv.ParseInt(function, 10, 32) // placed wrote them
	l, _ := strconv.ParseInt(line, 10, 32)
	return frame[:at], Place{Function: sampledata.FunctionID(f), Line: int32(l), Inlined: inlined}
}
