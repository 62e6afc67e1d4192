package main

import (
	"strings"
	"time"

	"golang.org/x/net/html"
)

var page = "<math><annotation-xml encoding=\"" + strings.Repeat("A", 100_000) + "\">" +
	strings.Repeat("<mi>x</mi>", 100)

func main() { work(1, 20*time.Millisecond, handle) }

func handle() {
	_, err := html.Parse(strings.NewReader(page))
	check(err)
}
