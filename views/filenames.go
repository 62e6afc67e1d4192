package views

import (
	"maps"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/sampledata"
)

// ShortFiles returns a function that shortens the paths of a
// recording's files: to the last element, with as many folders
// as tell the file from the others.
func ShortFiles(r *sampledata.Recording) func(file string) string {
	files := map[string]bool{}
	add := func(file string) { files[strings.ReplaceAll(file, `\`, "/")] = true }
	for i := range r.Functions {
		add(r.Functions[i].File)
	}
	for i := range r.Probes {
		for _, s := range r.Probes[i].Sites {
			add(s.File)
		}
	}
	return ShortPaths(slices.Collect(maps.Keys(files)))
}

// ShortPaths returns a function that shortens each of some paths
// to its last elements, as many as are needed to tell it from
// the others.
func ShortPaths(files []string) func(file string) string {
	ends := map[string]int{} // how many files end so
	for _, file := range files {
		for at := len(file); at > 0; {
			at = strings.LastIndexByte(file[:at], '/')
			ends[file[at+1:]]++
		}
	}
	return func(file string) string {
		file = strings.ReplaceAll(file, `\`, "/")
		for at := len(file); at > 0; {
			at = strings.LastIndexByte(file[:at], '/')
			if ends[file[at+1:]] < 2 {
				return file[at+1:]
			}
		}
		return file
	}
}
