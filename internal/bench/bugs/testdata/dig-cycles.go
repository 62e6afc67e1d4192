package main

import (
	"reflect"
	"time"

	"go.uber.org/dig"
)

func main() { work(1, 20*time.Millisecond, handle) }

// handle builds a graph in which each type needs all of those before.
func handle() {
	c := dig.New()
	var needs []reflect.Type
	for i := range 16 {
		makes := reflect.ArrayOf(i, reflect.TypeFor[byte]())
		fn := reflect.MakeFunc(reflect.FuncOf(needs, []reflect.Type{makes}, false),
			func([]reflect.Value) []reflect.Value { return []reflect.Value{reflect.Zero(makes)} })
		check(c.Provide(fn.Interface()))
		needs = append(needs, makes)
	}
}
