package house

import (
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// retired are phrases over which readers stumble, as regular
// expressions, each with an example and what to write instead.
var retired = []struct{ phrase, example, instead string }{
	{`tells? (whether|if)`, "tells whether a run has ended", "reports whether"},
	{`(is|are|was|were|be|been) told`, "a holder that is told wrongly", "reported, known, attributed"},
	{`(is|are|was|were|be|been)( not| never| no longer)? looked (at|for|into|through)`, "it is not looked at the clock", "the clock is not read; the code searches"},
	{`lets? (one|somebody|others) look`, "it lets one look", "shows"},
	{`where (there|that) (is|are|was|were|isn't|can|can't|has|does|did)`, "1, where there is none", "if"},
	{`where (asked|needed|possible|it can|it can't)`, "where asked for", "if"},
	{`(else|or|nil|false|0|nothing|none),? where`, "nil where nothing is known", "if"},
	{`of (no|some|any) (use|interest)`, "is of no interest", "say who uses it, and for what"},
	{`no use to`, "to wait for one is no use to others", "say what it means for whom"},
	{`all save`, "all save those", "except"},
	{`such a (share|cost|number)`, "with such a share", "this share"},
	{`in the way of`, "in the way of the data", "along"},
	{`(a|an|the|one)( \w+)? that is there`, "a file that is there", "an existing one"},
	{`doings|goings-on|deeds`, "a function's deeds", "say what it does"},
}

// retiredDoc are ways to continue the documentation of a
// function after its name.
var retiredDoc = regexp.MustCompile(`^ (gives|tells|says whether|hands|is told)\b`)

// unconverted are the folders whose comments still have to be
// rewritten. A folder without retired phrases must not be
// listed.
var unconverted = []string{}

func retiredPatterns() (patterns []*regexp.Regexp) {
	for _, r := range retired {
		patterns = append(patterns, regexp.MustCompile(`(?i)\b(`+r.phrase+`)\b`))
	}
	return patterns
}

// A wording is a place where a text stumbles.
type wording struct{ at, phrase, instead string }

// stumbles returns the retired phrases in a text.
func stumbles(patterns []*regexp.Regexp, at, text string) (found []wording) {
	text = strings.Join(strings.Fields(text), " ")
	for i, p := range patterns {
		if m := p.FindString(text); m != "" {
			found = append(found, wording{at, m, retired[i].instead})
		}
	}
	return found
}

// The comments of the code, the help of the commands, and the
// documentation avoid the retired phrases.
func TestPlainWords(t *testing.T) {
	patterns := retiredPatterns()
	for page, text := range pages(t) {
		for _, w := range stumbles(patterns, page, text) {
			t.Errorf("%s: %q; better: %s", w.at, w.phrase, w.instead)
		}
	}
	byFolder := map[string][]wording{}
	everyFile(t, func(file string, set *token.FileSet, f *ast.File) {
		if file == "internal/house/words_test.go" {
			return
		}
		folder := path.Dir(file)
		for _, c := range f.Comments {
			byFolder[folder] = append(byFolder[folder], stumbles(patterns, set.Position(c.Pos()).String(), c.Text())...)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if rest, ok := strings.CutPrefix(fn.Doc.Text(), fn.Name.Name); ok && retiredDoc.MatchString(rest) {
				w := wording{set.Position(fn.Doc.Pos()).String(), fn.Name.Name + retiredDoc.FindString(rest), "returns, reports whether"}
				byFolder[folder] = append(byFolder[folder], w)
			}
		}
		for _, text := range helpTexts(f) {
			byFolder[folder] = append(byFolder[folder], stumbles(patterns, set.Position(text.Pos()).String(), text.Value)...)
		}
	})
	for folder, found := range byFolder {
		for _, w := range found {
			if !slices.Contains(unconverted, folder) {
				t.Errorf("%s: %q; better: %s", w.at, w.phrase, w.instead)
			}
		}
	}
	for _, folder := range unconverted {
		if len(byFolder[folder]) == 0 {
			t.Errorf("%s has no retired phrase any more: delete it from unconverted", folder)
		}
	}
}

// helpTexts returns the string literals in the help of a
// command: its fields Short, Long and Example.
func helpTexts(f *ast.File) (texts []*ast.BasicLit) {
	ast.Inspect(f, func(n ast.Node) bool {
		field, ok := n.(*ast.KeyValueExpr)
		if !ok {
			return true
		}
		name, ok := field.Key.(*ast.Ident)
		if !ok || !slices.Contains([]string{"Short", "Long", "Example"}, name.Name) {
			return true
		}
		ast.Inspect(field.Value, func(n ast.Node) bool {
			if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				texts = append(texts, literal)
			}
			return true
		})
		return false
	})
	return texts
}

func TestRetiredPhrases(t *testing.T) {
	patterns := retiredPatterns()
	for i, r := range retired {
		if !patterns[i].MatchString(r.example) {
			t.Errorf("%q is not found in %q", r.phrase, r.example)
		}
	}
	good := `isDone reports whether a run has ended. It returns the holder, if there is one, and nil if not. The clock is not
read, and the file where the stack is kept is not searched.`
	if found := stumbles(patterns, "here", good); found != nil || retiredDoc.MatchString(strings.TrimPrefix(good, "isDone")) {
		t.Errorf("good words are retired: %v", found)
	}
}
