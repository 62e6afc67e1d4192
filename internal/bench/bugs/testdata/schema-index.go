package main

import (
	"time"

	"github.com/gorilla/schema"
)

type order struct{ Items []struct{ Name string } }

func main() { work(2, 20*time.Millisecond, handle) }

func handle() {
	schema.NewDecoder().Decode(&order{}, map[string][]string{"Items.1000000.Name": {"a"}})
}
