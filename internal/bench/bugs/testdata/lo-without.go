package main

import (
	"time"

	"github.com/samber/lo"
)

var all, some = lo.Range(20_000), lo.RangeFrom(10_000, 10_000)

func main() { work(1, 20*time.Millisecond, handle) }

func handle() { lo.Without(all, some...) }
