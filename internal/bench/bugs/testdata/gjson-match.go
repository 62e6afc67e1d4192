package main

import (
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

var (
	text = `{"` + strings.Repeat("a", 50) + `":1}`
	path = strings.Repeat("*a", 5) + "*b"
)

func main() { work(1, 20*time.Millisecond, handle) }

func handle() { gjson.Get(text, path) }
