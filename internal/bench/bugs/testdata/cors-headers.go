package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/rs/cors"
)

var (
	handler = cors.New(cors.Options{AllowedOrigins: []string{"*"}, AllowedHeaders: []string{"X-Own"}}).
		Handler(http.NotFoundHandler())
	headers = strings.Repeat(",", 1<<20)
)

func main() { work(2, 10*time.Millisecond, handle) }

func handle() {
	request := httptest.NewRequest("OPTIONS", "/", nil)
	request.Header.Set("Origin", "https://example.com")
	request.Header.Set("Access-Control-Request-Method", "GET")
	request.Header.Set("Access-Control-Request-Headers", headers)
	handler.ServeHTTP(httptest.NewRecorder(), request)
}
