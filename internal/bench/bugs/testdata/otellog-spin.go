package main

import (
	"context"
	"net/http"
	"time"

	api "go.opentelemetry.io/otel/log"
	"go.opentelemetry.io/otel/sdk/log"
)

// An exporter sends records to a service that is slow.
type exporter struct{ address string }

func (e exporter) Export(context.Context, []log.Record) error {
	answer, err := http.Get("http://" + e.address)
	if err != nil {
		return err
	}
	return answer.Body.Close()
}

func (exporter) Shutdown(context.Context) error   { return nil }
func (exporter) ForceFlush(context.Context) error { return nil }

func main() {
	address := website(func(http.ResponseWriter, *http.Request) {
		time.Sleep(500 * time.Millisecond)
	})
	batches := log.NewBatchProcessor(exporter{address}, log.WithExportMaxBatchSize(64))
	logger := log.NewLoggerProvider(log.WithProcessor(batches)).Logger("work")
	work(2, 2*time.Millisecond, func() { handle(logger) })
}

func handle(logger api.Logger) {
	logger.Emit(context.Background(), api.Record{}) // a request was answered
}
