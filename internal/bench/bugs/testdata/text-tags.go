package main

import (
	"strings"
	"time"

	"golang.org/x/text/language"
)

var header = strings.Repeat("en-u-", 20_000)

func main() { work(1, 20*time.Millisecond, handle) }

func handle() { language.ParseAcceptLanguage(header) }
