package main

import (
	"encoding/base64"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v3"
)

var message = func() string {
	parts := []string{`{"alg":"PBES2-HS256+A128KW","enc":"A128GCM","p2c":2000000,"p2s":"c2FsdHNhbHQ"}`,
		strings.Repeat("k", 24), strings.Repeat("i", 12), "text", strings.Repeat("t", 16)}
	for i, p := range parts {
		parts[i] = base64.RawURLEncoding.EncodeToString([]byte(p))
	}
	return strings.Join(parts, ".")
}()

func main() { work(1, 20*time.Millisecond, handle) }

func handle() {
	m, err := jose.ParseEncrypted(message)
	check(err)
	m.Decrypt([]byte("a password"))
}
