package main

import (
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v4"
)

var token = strings.Repeat(".", 1_000_000)

func main() { work(2, 10*time.Millisecond, handle) }

func handle() { jwt.NewParser().ParseUnverified(token, jwt.MapClaims{}) }
