package callpath

import (
	"fmt"

	"github.com/cpprof/cpprof/internal/caret"
	"github.com/cpprof/cpprof/internal/termtext"
)

// A SyntaxError says what is wrong with an expression, and at
// which position.
type SyntaxError struct {
	Input  string
	Offset int // of the error, in bytes; at most len(Input)
	Msg    string
}

// shownBefore and shownAfter limit how much of a long expression
// is shown, in characters.
const shownBefore, shownAfter = 70, 30

// Error returns the message, the expression, and a line with a
// caret below the offending character.
func (e *SyntaxError) Error() string {
	before, after := []rune(e.Input[:e.Offset]), []rune(e.Input[e.Offset:])
	if n := len(before) - shownBefore; n > 0 {
		before = append([]rune("..."), before[n:]...)
	}
	if len(after) > shownAfter {
		after = append(after[:shownAfter:shownAfter], []rune("...")...)
	}
	return termtext.Printable(e.Msg) + "\n" +
		caret.Under(string(before)+string(after), len(string(before)))
}

// TerminalText returns the message, which is printable.
func (e *SyntaxError) TerminalText() string { return e.Error() }

// fail notes a mistake in the input, unless there was one before it.
func (l *lexer) fail(offset int, format string, args ...any) {
	if l.err == nil {
		l.err = &SyntaxError{Input: l.input, Offset: offset,
			Msg: l.what + ": " + fmt.Sprintf(format, args...)}
	}
}
