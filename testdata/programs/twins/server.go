package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"
)

var quiet = log.New(io.Discard, "", 0)

// server serves HTTP/2 and HTTP/1, one behind the other, under load. Some clients give up.
func server() {
	back := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		select {
		case <-r.Context().Done():
		case <-time.After(some(20 * time.Millisecond)):
		}
		for i := range 10 {
			fmt.Fprintln(w, i, strings.Repeat("x", 1000))
			w.(http.Flusher).Flush()
		}
	}))
	to, _ := url.Parse(back.URL)
	proxy := httputil.NewSingleHostReverseProxy(to)
	proxy.ErrorLog = quiet
	front := httptest.NewUnstartedServer(proxy)
	front.EnableHTTP2 = true
	front.Config.ErrorLog = quiet
	front.StartTLS()
	client := front.Client()
	repeat(20, func() {
		ctx, cancel := context.WithTimeout(context.Background(), some(60*time.Millisecond))
		defer cancel()
		request, _ := http.NewRequestWithContext(ctx, "POST", front.URL, strings.NewReader("hello"))
		if answer, err := client.Do(request); err == nil {
			io.Copy(io.Discard, answer.Body)
			answer.Body.Close()
		}
	})
}
