package main

import (
	"runtime"
	"runtime/debug"

	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/spf13/cobra"
)

func newVersionCommand(t terminal) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version of cpprof",
		Example: "  cpprof version",
		GroupID: groupMore,
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			_, err := termtext.Fprintf(t.out, "cpprof %s %s %s/%s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}

// version returns the version of the module. A build from a checkout has the commit in it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	v := info.Main.Version
	if v == "" {
		v = "(devel)"
	}
	return v
}
