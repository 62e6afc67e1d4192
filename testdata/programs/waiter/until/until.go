package until

import (
	"os"
	"time"
)

func Exists(file string) {
	for {
		if _, err := os.Stat(file); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}
