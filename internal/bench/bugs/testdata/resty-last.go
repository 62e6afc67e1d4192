package main

import (
	"net/http"
	"time"

	"github.com/go-resty/resty/v2"
)

// A service is busy; a request is tried twice.
func main() {
	address := website(func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(2 * time.Millisecond)
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	client := resty.New().SetRetryCount(1).SetRetryWaitTime(20 * time.Millisecond)
	client.AddRetryCondition(func(r *resty.Response, _ error) bool {
		return r.StatusCode() == http.StatusServiceUnavailable
	})
	work(4, 5*time.Millisecond, func() { report(client, "http://"+address) })
}

func report(client *resty.Client, url string) {
	_, err := client.R().SetBody("42").Post(url)
	check(err)
}
