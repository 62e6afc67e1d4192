package main

import (
	"strings"
	"time"

	"github.com/nlnwa/whatwg-url/url"
)

var address = "https://example.com/?" + strings.Repeat("&name=value", 2000)

func main() { work(1, 20*time.Millisecond, handle) }

func handle() {
	_, err := url.Parse(address)
	check(err)
}
