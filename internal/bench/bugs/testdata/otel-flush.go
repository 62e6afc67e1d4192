package main

import (
	"context"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/sdk/trace"
)

// An exporter sends spans to a service that is slow.
type exporter struct{ address string }

func (e exporter) ExportSpans(context.Context, []trace.ReadOnlySpan) error {
	answer, err := http.Get("http://" + e.address)
	if err != nil {
		return err
	}
	return answer.Body.Close()
}

func (exporter) Shutdown(context.Context) error { return nil }

func main() {
	address := website(func(http.ResponseWriter, *http.Request) {
		time.Sleep(50 * time.Millisecond)
	})
	batches := trace.NewBatchSpanProcessor(exporter{address})
	tracer := trace.NewTracerProvider(trace.WithSpanProcessor(batches)).Tracer("work")
	work(1, 5*time.Millisecond, func() {
		_, span := tracer.Start(context.Background(), "request")
		span.End()
		flush(batches)
	})
}

// flush has a deadline, as at the end of a request.
func flush(p trace.SpanProcessor) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	p.ForceFlush(ctx)
}
