package main

import (
	"strings"
	"time"

	"github.com/tidwall/match"
)

var text, pattern = strings.Repeat("a", 60), strings.Repeat("*a", 5) + "*b"

func main() { work(1, 20*time.Millisecond, handle) }

func handle() { match.Match(text, pattern) }
