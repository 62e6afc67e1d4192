package main

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/cache"
	"github.com/valyala/fasthttp"
)

// One route asks a service, which is slow; the other one answers at once.
func main() {
	service := website(func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(10 * time.Millisecond)
		fmt.Fprintln(w, "a report")
	})
	app := fiber.New()
	app.Use(cache.New())
	app.Get("/health", func(c *fiber.Ctx) error { return c.SendString("ok") })
	app.Get("/reports/:id", func(c *fiber.Ctx) error {
		answer, err := http.Get("http://" + service + c.Path())
		check(err)
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		check(err)
		return c.Send(body)
	})
	handle := app.Handler()
	var reports atomic.Int64
	report := func() { request(handle, fmt.Sprint("/reports/", reports.Add(1))) }
	health := func() { request(handle, "/health") }
	workers(time.Millisecond, slices.Repeat([]func(){report, health}, 4)...)
}

func request(handle fasthttp.RequestHandler, path string) {
	var ctx fasthttp.RequestCtx
	ctx.Request.SetRequestURI(path)
	handle(&ctx)
}
