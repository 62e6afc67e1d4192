package main

import (
	"strings"
	"time"

	"golang.org/x/text/language"
)

// header has subtags that are too long, which are removed one by one.
var header = strings.Repeat("aaaaaaaaaa-", 50_000)

func main() { work(1, 20*time.Millisecond, handle) }

func handle() { language.ParseAcceptLanguage(header) }
