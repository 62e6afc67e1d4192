package main

import (
	"net/http/httptest"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
)

var server = echo.New()

func main() {
	server.Use(middleware.Gzip())
	server.GET("/", func(c echo.Context) error { return c.String(200, "a short answer") })
	work(2, 2*time.Millisecond, handle)
}

func handle() {
	request := httptest.NewRequest("GET", "/", nil)
	request.Header.Set("Accept-Encoding", "gzip")
	server.ServeHTTP(httptest.NewRecorder(), request)
}
