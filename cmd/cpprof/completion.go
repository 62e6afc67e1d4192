package main

import (
	"strings"

	"github.com/cpprof/cpprof/views/calltree"
	"github.com/spf13/cobra"
)

// completePath completes the last element of a call path with
// the names that the view has.
func (f *viewFlags) completePath(c *cobra.Command, args []string, word string) ([]string,
	cobra.ShellCompDirective) {
	head, last := word[:strings.LastIndexByte(word, ' ')+1],
		word[strings.LastIndexByte(word, ' ')+1:]
	dots := ""
	if rest, ok := strings.CutPrefix(last, ".."); ok {
		dots, last = "..", rest
	}
	return f.completeNames(cobra.ShellCompDirectiveNoSpace, func(s *source) (matches []string, _ error) {
		if !f.server && f.thread == "" {
			return nil, nil
		}
		v, err := f.view(s)
		if err != nil {
			return nil, err
		}
		names := append([]string{calltree.RootName}, v.aspects().Names()...)
		for i := range v.Tree.Symbols().Len() {
			names = append(names, v.Tree.Symbols().Name(calltree.Func(i)))
		}
		for _, name := range names {
			if strings.HasPrefix(name, last) {
				matches = append(matches, head+dots+name)
			}
		}
		return matches, nil
	})(c, args, word)
}
