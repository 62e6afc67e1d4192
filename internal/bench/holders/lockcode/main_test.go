package lockcode

import (
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
)

func TestMain(m *testing.M) { fixture.Main(m) }
