package main

import (
	"io"
	"net/http"
	"time"

	"gopkg.in/h2non/gock.v1"
)

// A client under test meets a mock that answers after 5 ms.
func main() {
	gock.New("http://shop.example").Get("/price").Persist().
		Reply(200).Delay(5 * time.Millisecond).BodyString("42")
	client := &http.Client{Transport: gock.DefaultTransport}
	work(8, 5*time.Millisecond, func() { price(client) })
}

func price(client *http.Client) {
	answer, err := client.Get("http://shop.example/price")
	check(err)
	defer answer.Body.Close()
	_, err = io.ReadAll(answer.Body)
	check(err)
}
