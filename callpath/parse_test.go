package callpath

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cpprof/cpprof/internal/fixture"
)

func TestParse(t *testing.T) {
	e := func(name string) Element { return Element{Name: name} }
	for _, c := range []struct {
		input string
		want  Path
	}{
		{"A", Path{Elements: []Element{e("A")}}},
		{"A >B ..C >>D", Path{Elements: []Element{e("A"), e("B"), e("C"), e(">D")}, Specs: []Spec{InPlace, Extended, InPlace}}},
		{" A B\t..C ", Path{Elements: []Element{e("A"), e("B"), e("C")}, Specs: []Spec{Immediate, Extended}}},
		{"* ..net/http.(*conn).serve :RUN", Path{Elements: []Element{e("*"), e("net/http.(*conn).serve"), e(":RUN")}, Specs: []Spec{Extended, Immediate}}},
		{`@net "@net" .."a b\"\\\x00"`, Path{Elements: []Element{e("@net"), {"@net", true}, e("a b\"\\\x00")}, Specs: []Spec{Immediate, Extended}}},
		{`"and" "..x" ""`, Path{Elements: []Element{e("and"), e("..x"), e("")}, Specs: []Spec{Immediate, Immediate}}},
		{"type..eq.T ...inittask", Path{Elements: []Element{e("type..eq.T"), e(".inittask")}, Specs: []Spec{Extended}}},
	} {
		got, err := Parse(c.input)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %#v, %v, want %#v", c.input, got, err, c.want)
		}
	}
}

// TestSyntaxErrors compares the whole text of errors: message, expression, caret.
func TestSyntaxErrors(t *testing.T) {
	path := func(s string) error { _, err := Parse(s); return err }
	split := func(s string) error { _, _, err := ParseSplit(s); return err }
	expr := func(s string) error { _, err := ParseExpr(s); return err }
	for _, c := range []struct {
		parse             func(string) error
		input, msg, caret string
	}{
		{path, "", "call path: want a call path, but nothing is left", "^"},
		{path, "..A", "call path: a path begins with an element: nothing is before this ..", "^"},
		{path, "A .. B", "call path: no name follows the ..: write it right before a name, as in A ..B", "  ^"},
		{path, ">A", "call path: a path begins with an element: nothing is before this >", "^"},
		{path, "A > B", "call path: no name follows the >: write it right before a name, as in A >B", "  ^"},
		{path, `é "B C`, "call path: the quote is not closed", "  ^"},
		{path, `A "B\qC"`, `call path: unknown escape: \\ is a backslash, \" a quote`, "    ^"},
		{path, `A "B"C`, "call path: a blank must follow a name in quotes", "     ^"},
		{path, `A B"C"`, `call path: a quote inside a name: put the whole name in quotes, and write \" for a quote in it`, "   ^"},
		{path, "A f(x", "call path: a parenthesis of a name is not closed: put the name in quotes", "   ^"},
		{path, "A (B)", "call path: a path ends here: put a name with such a parenthesis in quotes", "  ^"},
		{path, "A ..(B)", "call path: a parenthesis after .. or >: put a name that begins with one in quotes", "    ^"},
		{path, "A and B", `call path: a path ends here: and is for prune expressions; a function of this name is written "and"`, "  ^"},
		{path, "A | B", `call path: a path ends here: a function of this name is written "|"`, "  ^"},
		{path, "A @", "call path: an aspect's name must follow the @", "  ^"},
		{split, "A B", "split: want a bar with blanks around it, as in P1 | P2, but nothing is left", "   ^"},
		{split, "A | ..B", "split: a path begins with an element: nothing is before this ..", "    ^"},
		{split, "A | B | C", `split: the second part ends here: a function of this name is written "|"`, "      ^"},
		{expr, "A and", "prune expression: want a call path, but nothing is left", "     ^"},
		{expr, "A and or B", `prune expression: want a call path before or; a function of this name is written "or"`, "      ^"},
		{expr, "(A or B", "prune expression: the parenthesis is not closed", "^"},
		{expr, "A or B)", "prune expression: nothing opens this parenthesis", "      ^"},
		{expr, "A not B", "prune expression: want and, or, or the end here", "  ^"},
		{expr, "A | B", `prune expression: a bar is for splits: write or, or "|" for a function of this name`, "  ^"},
		{expr, "()", "prune expression: want a call path before this parenthesis", " ^"},
	} {
		err := c.parse(c.input)
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || syntax.Input != c.input {
			t.Errorf("%q: error %v", c.input, err)
			continue
		}
		if want := c.msg + "\n    " + c.input + "\n    " + c.caret; err.Error() != want {
			t.Errorf("%q:\n%v\nwant:\n%s", c.input, err, want)
		}
	}
}

func TestLongSyntaxErrorShowsAPiece(t *testing.T) {
	_, err := Parse(strings.Repeat("A ", 500) + "( " + strings.Repeat("B\t", 500))
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 3 || len(lines[1]) > 120 || lines[1][strings.Index(lines[2], "^")] != '(' {
		t.Errorf("error:\n%v", err)
	}
	_, err = Parse("\"a\x1bb\n\" >")
	if want := "\n    \"a\\x1bb\\x0a\" >\n"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error:\n%v\nwant %q in it", err, want)
	}
	if _, err := Parse(strings.Repeat("A ", maxInput)); err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Errorf("a too long path: %v", err)
	}
}

func TestParseExpr(t *testing.T) {
	for _, c := range []struct{ input, want string }{
		{"A B", "A B"},
		{"A and not B ..C or D", "A and not B ..C or D"},
		{"A and (B or C)", "A and (B or C)"},
		{"(net/http.(*conn).serve)", "net/http.(*conn).serve"},
		{"not (not((f.(*T).m or g)))", ""}, // "not((" is a name whose parentheses are not closed
		{"not ( not ((f.(*T).m or g)))", "not not (f.(*T).m or g)"},
		{`"and" and("or") and`, ""},
		{`"and" and ("or")`, `"and" and "or"`},
		{"((A))and((B))", ""}, // and((B)) is a name
		{"((A))and B", "A and B"},
	} {
		e, err := ParseExpr(c.input)
		if c.want == "" {
			if err == nil {
				t.Errorf("%s: no error, but %s", c.input, e)
			}
		} else if err != nil || e.String() != c.want {
			t.Errorf("%s: %s, %v, want %s", c.input, e, err, c.want)
		}
	}
}

// drawName draws names that are hard on the notation.
func drawName(t *rapid.T) string {
	return rapid.OneOf(
		rapid.StringOfN(rapid.SampledFrom([]rune(`ab.()"\|@:* é`+"\t\u00a0\x00")), 0, 8, -1),
		rapid.SampledFrom([]string{"and", "or", "not", "|", "..", ".", "@", "", "net/http.(*conn).serve", "\xff", "a\xc3"}),
		rapid.Custom(func(t *rapid.T) string { return string(rapid.SliceOfN(rapid.Byte(), 0, 5).Draw(t, "bytes")) }),
	).Draw(t, "name")
}

func drawPath(t *rapid.T) Path {
	var p Path
	for i := range rapid.IntRange(1, 5).Draw(t, "elements") {
		e := Frame(drawName(t))
		if rapid.Bool().Draw(t, "aspect") {
			e = Element{Name: "@" + rapid.StringOfN(rapid.SampledFrom([]rune(`a.()"@`)), 1, 4, -1).Draw(t, "aspect")}
			if needsQuotes(e.Name) { // an aspect has no such name
				e = Frame(e.Name)
			}
		}
		p.Elements = append(p.Elements, e)
		if i > 0 {
			p.Specs = append(p.Specs, Spec(rapid.IntRange(0, 2).Draw(t, "spec")))
		}
	}
	return p
}

// Paths are equal if they print equally.
func TestPathEqual(t *testing.T) {
	var paths []Path
	for _, text := range []string{"A", "A B", "A ..B", "A >B", "A B C", "@net", `"@net"`, "B A"} {
		p := fixture.Must(Parse(text))(t)
		paths = append(paths, p, p.Prefix(len(p.Elements)))
	}
	for _, p := range paths {
		for _, q := range paths {
			if got, want := p.Equal(q), p.String() == q.String(); got != want {
				t.Errorf("%s and %s: %v", p, q, got)
			}
		}
	}
}

func TestPathRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, p2 := drawPath(t), drawPath(t)
		if got, err := Parse(p.String()); err != nil || !reflect.DeepEqual(got, p) {
			t.Fatalf("%s: read back as %s, %v", p, got, err)
		}
		got, got2, err := ParseSplit(p.String() + " | " + p2.String())
		if err != nil || !reflect.DeepEqual(got, p) || !reflect.DeepEqual(got2, p2) {
			t.Fatalf("%s | %s: read back as %s | %s, %v", p, p2, got, got2, err)
		}
	})
}

func drawExpr(t *rapid.T, depth int) Expr {
	op := OpPath
	if depth > 0 {
		op = Op(rapid.IntRange(0, 3).Draw(t, "op"))
	}
	switch op {
	case OpPath:
		return Expr{Path: drawPath(t)}
	case OpNot:
		return Expr{Op: op, Args: []Expr{drawExpr(t, depth-1)}}
	}
	e := Expr{Op: op}
	for range rapid.IntRange(2, 3).Draw(t, "args") {
		e.Args = append(e.Args, drawExpr(t, depth-1))
	}
	return e
}

func TestExprRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := drawExpr(t, 3)
		if got, err := ParseExpr(e.String()); err != nil || !reflect.DeepEqual(got, e) {
			t.Fatalf("%s: read back as %s, %v", e, got, err)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"A B ..C", `* .."a b" @x`, "A | ..", "f( \"\\x", "..A .. )"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := Parse(s)
		if err != nil {
			checkSyntaxError(t, s, err)
		} else if again, err := Parse(p.String()); err != nil || !reflect.DeepEqual(again, p) {
			t.Errorf("%q is %s, read back as %s, %v", s, p, again, err)
		}
		if _, _, err := ParseSplit(s); err != nil {
			checkSyntaxError(t, s, err)
		}
	})
}

func FuzzParseExpr(f *testing.F) {
	for _, s := range []string{"A and not (B or C ..D)", "((((", "not not not f.(*T).m)", `"and" or "\`, "a)b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		e, err := ParseExpr(s)
		if err != nil {
			checkSyntaxError(t, s, err)
			return
		}
		if len(e.String()) > maxInput {
			return
		}
		if again, err := ParseExpr(e.String()); err != nil || !reflect.DeepEqual(again, e) {
			t.Errorf("%q is %s, read back as %s, %v", s, e, again, err)
		}
	})
}

func checkSyntaxError(t *testing.T, s string, err error) {
	t.Helper()
	var syntax *SyntaxError
	if !errors.As(err, &syntax) || syntax.Offset < 0 || syntax.Offset > len(s) {
		t.Errorf("%q: %v", s, err)
		return
	}
	if lines := strings.Split(err.Error(), "\n"); len(lines) != 3 {
		t.Errorf("%q: %d lines of error: %v", s, len(lines), err)
	}
}
