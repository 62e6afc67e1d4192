package main

import (
	"strings"
	"time"

	"github.com/rivo/uniseg"
)

var text = strings.Repeat("Die Prüfung größerer Texte dauerte lange. ", 3000)

func main() { work(1, 5*time.Millisecond, handle) }

func handle() { uniseg.GraphemeClusterCount(text) }
