package main

import (
	"time"

	"github.com/kaptinlin/jsonschema"
)

var schema *jsonschema.Schema

func main() {
	var err error
	schema, err = jsonschema.NewCompiler().Compile([]byte(`{"type": "object", "properties": {
		"id": {"type": "string", "pattern": "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"},
		"mail": {"type": "string", "pattern": "^[\\w.+-]{1,64}@[\\w-]+(\\.[\\w-]{2,}){1,4}$"}}}`))
	check(err)
	work(4, time.Millisecond, validate)
}

func validate() {
	for range 20 {
		r := schema.Validate(map[string]any{"id": "0123abcd-0123-0123-0123456789ab", "mail": "someone@example.com"})
		if !r.IsValid() {
			panic("it is valid")
		}
	}
}
