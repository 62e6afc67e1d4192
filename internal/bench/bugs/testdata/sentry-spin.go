package main

import (
	"context"
	"net/http"
	"time"

	"github.com/getsentry/sentry-go"
)

func main() {
	address := website(http.NotFound)
	check(sentry.Init(sentry.ClientOptions{Dsn: "http://key@" + address + "/1", EnableLogs: true}))
	logger := sentry.NewLogger(context.Background())
	work(1, 50*time.Millisecond, func() { handle(logger) })
}

func handle(logger sentry.Logger) { logger.Info().Emit("a request was answered") }
