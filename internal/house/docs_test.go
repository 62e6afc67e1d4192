package house

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/cpprof/cpprof/internal/fixture"
)

const readme = "../../README.md"

// pages returns the documentation: README, CONTRIBUTING, SECURITY and the pages
// of docs.
func pages(t *testing.T) map[string]string {
	t.Helper()
	files := fixture.Must(filepath.Glob("../../docs/*.md"))(t)
	text := map[string]string{}
	for _, file := range append(files, readme, "../../CONTRIBUTING.md", "../../SECURITY.md") {
		b := fixture.Must(os.ReadFile(file))(t)
		text[filepath.Clean(file)] = string(b)
	}
	return text
}

// maxWords limits the README: a reader wants to know whether
// cpprof is useful.
const maxWords = 1200

func TestReadmeIsShort(t *testing.T) {
	if n := len(strings.Fields(pages(t)[filepath.Clean(readme)])); n >= maxWords {
		t.Errorf("README.md has %d words, want fewer than %d: details belong in docs/", n, maxWords)
	}
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	fence   = regexp.MustCompile("(?ms)^```.*?^```$")
)

// anchors returns the names of a page's headings in links, as
// GitHub makes them.
func anchors(page string) map[string]bool {
	names := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(fence.ReplaceAllString(page, ""), -1) {
		var b strings.Builder
		for _, r := range strings.ToLower(m[1]) {
			switch {
			case r == ' ':
				b.WriteByte('-')
			case r == '-', r == '_', unicode.IsLetter(r), unicode.IsDigit(r):
				b.WriteRune(r)
			}
		}
		names[b.String()] = true
	}
	return names
}

// Every link has a target, and links lead from the README to every page.
func TestLinks(t *testing.T) {
	all := pages(t)
	reached := map[string]bool{}
	var follow func(page string)
	follow = func(page string) {
		if reached[page] {
			return
		}
		reached[page] = true
		for _, m := range link.FindAllStringSubmatch(all[page], -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			file, anchor, _ := strings.Cut(m[1], "#")
			to := page
			if file != "" {
				to = filepath.Join(filepath.Dir(page), filepath.FromSlash(file))
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s: link to %s: %v", page, m[1], err)
				continue
			}
			if anchor != "" && !anchors(all[to])[anchor] {
				t.Errorf("%s: link to %s: there is no such heading", page, m[1])
			}
			if _, ok := all[to]; ok {
				follow(to)
			}
		}
	}
	follow(filepath.Clean(readme))
	for page := range all {
		if !reached[page] {
			t.Errorf("no link leads to %s", page)
		}
	}
}

func TestAnchors(t *testing.T) {
	got := anchors("# Two views\n```\n# no heading\n```\n## `--up`, and *more*\n")
	if !got["two-views"] || !got["--up-and-more"] || len(got) != 2 {
		t.Errorf("got %v", got)
	}
}

// docs/house.md has exactly the order that TestImportsFollowTheOrder checks.
func TestHouseHasTheOrder(t *testing.T) {
	var entries []string
	for _, names := range order {
		entries = append(entries, strings.Join(names, ", "))
	}
	want := strings.Join(entries, " < ")
	page := strings.Join(strings.Fields(pages(t)[filepath.Clean("../../docs/house.md")]), " ")
	if !strings.Contains(page, want) {
		t.Errorf("docs/house.md: want the order %s", want)
	}
}
