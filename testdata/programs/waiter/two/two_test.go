package two

import (
	"os"
	"testing"

	"example.com/waiter/until"
)

func TestWaits(*testing.T) { until.Exists(os.Args[len(os.Args)-1]) }
