package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/hibiken/asynq"
)

const clients = 8

// Requests enqueue a task, and wait until it is done.
func main() {
	where := elsewhere(func(l net.Listener) {
		redis := miniredis.NewMiniRedis()
		check(redis.Start())
		http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, redis.Addr())
		}))
	})
	redis := asynq.RedisClientOpt{Addr: get("http://" + where)}
	client := asynq.NewClient(redis)
	var done [clients]chan bool
	var kinds []func()
	for n := range done {
		done[n] = make(chan bool, 1)
		kinds = append(kinds, func() {
			_, err := client.Enqueue(asynq.NewTask("resize", []byte(strconv.Itoa(n))))
			check(err)
			<-done[n]
		})
	}
	config := asynq.Config{Concurrency: 4 * clients, LogLevel: asynq.FatalLevel}
	set(&config, "TaskCheckInterval", int64(5*time.Millisecond))
	resize := func(_ context.Context, t *asynq.Task) error {
		n, err := strconv.Atoi(string(t.Payload()))
		time.Sleep(2 * time.Millisecond)
		done[n] <- true
		return err
	}
	check(asynq.NewServer(redis, config).Start(asynq.HandlerFunc(resize)))
	workers(time.Millisecond, kinds...)
}

func get(url string) string {
	answer, err := http.Get(url)
	check(err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	check(err)
	return string(body)
}
