//go:build !unix

package sampler

import "os"

// alive holds for every process that the system still opens.
func alive(*os.Process) bool { return true }
