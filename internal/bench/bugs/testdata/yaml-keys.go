package main

import (
	"strings"
	"time"

	"gopkg.in/yaml.v2"
)

var text = []byte("- " + strings.Repeat("[", 6000) + strings.Repeat("]", 6000) + "\n")

func main() { work(1, 20*time.Millisecond, handle) }

func handle() {
	var value any
	yaml.Unmarshal(text, &value)
}
