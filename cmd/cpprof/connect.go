package main

import (
	"errors"
	"fmt"
	"net"

	"github.com/cpprof/cpprof/sampler"
	"github.com/cpprof/cpprof/sampler/delve"
	"github.com/spf13/cobra"
)

// addConnect adds the flag for a program that a Delve server runs, perhaps on
// another system.
func addConnect(c *cobra.Command, address *string) {
	c.Flags().StringVar(address, "connect", "",
		"the program of the headless Delve server at `HOST:PORT`; --program is a copy of its executable")
}

// checkConnect returns an error if the flags of a command don't fit to a
// program of a Delve server.
func checkConnect(c *cobra.Command, address, program string, args []string) error {
	if len(args) > 0 {
		return errors.New("give either a Delve server (--connect HOST:PORT) or a command or file, not both")
	}
	for _, name := range []string{"pid", "child", "follow-exec", "monitor"} {
		if f := c.Flags().Lookup(name); f != nil && f.Changed {
			return fmt.Errorf("--%s needs a program on this system, and --connect names one that a Delve server runs", name)
		}
	}
	if f := c.Flags().Lookup("backend"); f.Changed && f.Value.String() != delve.Name {
		return fmt.Errorf("--backend %s: a Delve server (--connect) is read with --backend %s only",
			f.Value, delve.Name)
	}
	if _, port, err := net.SplitHostPort(address); err != nil || port == "" {
		return fmt.Errorf("--connect %s: want the address of a headless Delve server, such as localhost:4000", address)
	}
	if program == "" {
		return fmt.Errorf("--connect %s: name a copy of the program's executable with --program: a Delve server does not send its debug information", address)
	}
	return nil
}

// connected returns the program of a Delve server as a target. Before it
// connects, it calls ready with the program's name, as attachTo does.
func connected(address, program string, ready func(program string) error) (target, error) {
	if err := ready(program); err != nil {
		return target{}, err
	}
	p, b, err := delve.Connect(address, program)
	if err != nil {
		return target{}, err
	}
	return target{Process: p, backend: sampler.Backend(b)}, nil
}
