package main

// startChannels starts goroutines that wait for one another through channels.
func startChannels() {
	slow, fast := make(chan int), make(chan int, 2)
	go produce(slow)
	for i := 0; i < 3; i++ {
		go consume(slow)
		go fill(fast)
	}
	go choose(fast, make(chan bool))
	asked := make(chan chan struct{})
	go ask(asked)
	go answer(asked)
}

// produce keeps its receivers waiting.
func produce(to chan<- int) {
	for i := 0; ; i++ {
		work()
		to <- i
	}
}

func consume(from <-chan int) {
	for range from {
	}
}

// fill waits for a receiver.
func fill(to chan<- int) {
	for i := 0; ; i++ {
		to <- i
	}
}

// choose keeps its senders waiting.
func choose(from <-chan int, done chan bool) {
	for {
		select {
		case <-from:
			work()
		case <-done:
			return
		}
	}
}

// ask waits until its question is answered.
func ask(to chan<- chan struct{}) {
	for {
		answered := make(chan struct{})
		to <- answered
		<-answered
	}
}

// answer closes the channel of each question, after a while.
func answer(from <-chan chan struct{}) {
	for answered := range from {
		work()
		close(answered)
	}
}
