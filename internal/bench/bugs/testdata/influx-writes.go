package main

import (
	"context"
	"net/http"
	"time"

	influxdb2 "github.com/influxdata/influxdb-client-go/v2"
)

func main() {
	address := website(func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(5 * time.Millisecond)
		w.WriteHeader(http.StatusNoContent)
	})
	api := influxdb2.NewClient("http://"+address, "token").WriteAPIBlocking("org", "bucket")
	work(16, 10*time.Millisecond, func() { write(api.WriteRecord) })
}

func write(record func(context.Context, ...string) error) {
	check(record(context.Background(), "temperature value=21.5"))
}
