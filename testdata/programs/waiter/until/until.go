package until

import (
	"os"
	"path/filepath"
	"time"
)

// Exists waits until a file exists, or its folder has gone.
func Exists(file string) {
	for {
		_, err := os.Stat(file)
		_, gone := os.Stat(filepath.Dir(file))
		if err == nil || gone != nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}
