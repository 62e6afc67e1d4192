package main

import (
	"strings"

	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/views/calltree"
	"github.com/spf13/cobra"
)

// completePath completes the last element of a call path with the names that
// the view has.
func (f *viewFlags) completePath(_ *cobra.Command, args []string, word string) ([]string,
	cobra.ShellCompDirective) {
	const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	if len(args) == 0 || !f.server && f.thread == "" {
		return nil, directive
	}
	s, err := f.open(args[0])
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	v, err := f.view(s)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	head, last := word[:strings.LastIndexByte(word, ' ')+1],
		word[strings.LastIndexByte(word, ' ')+1:]
	dots := ""
	if rest, ok := strings.CutPrefix(last, ".."); ok {
		dots, last = "..", rest
	}
	var matches []string
	for _, name := range names(v) {
		if strings.HasPrefix(name, last) && termtext.IsPrintable(name) { // others can't be typed
			matches = append(matches, head+dots+name)
		}
	}
	return matches, directive
}

// names returns everything that an element of a path in the view can be.
func names(v *view) []string {
	list := append([]string{calltree.RootName}, v.aspects.Names()...)
	syms := v.Tree.Symbols()
	for i := range syms.Len() {
		list = append(list, syms.Name(calltree.Func(i)))
	}
	return list
}
