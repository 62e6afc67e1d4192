package main

import (
	"strings"
	"time"

	"github.com/joho/godotenv"
)

var file = strings.Repeat("SERVICE_NAME=\"a ${VALUE} of some kind\"\n", 100)

func main() { work(1, 4*time.Millisecond, handle) }

func handle() {
	_, err := godotenv.Unmarshal(file)
	check(err)
}
