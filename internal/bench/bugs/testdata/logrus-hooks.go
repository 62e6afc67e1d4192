package main

import (
	"io"
	"net/http"
	"time"

	"github.com/sirupsen/logrus"
)

// A notifier sends each message to a service.
type notifier struct{ address string }

func (n *notifier) Levels() []logrus.Level { return logrus.AllLevels }

func (n *notifier) Fire(*logrus.Entry) error {
	answer, err := http.Get("http://" + n.address)
	check(err)
	io.Copy(io.Discard, answer.Body)
	return answer.Body.Close()
}

func main() {
	address := website(func(http.ResponseWriter, *http.Request) {
		time.Sleep(5 * time.Millisecond)
	})
	http.DefaultTransport.(*http.Transport).MaxIdleConnsPerHost = 16
	logrus.SetOutput(io.Discard)
	logrus.AddHook(&notifier{address})
	work(16, 10*time.Millisecond, handle)
}

func handle() { logrus.Warn("a request was refused") }
