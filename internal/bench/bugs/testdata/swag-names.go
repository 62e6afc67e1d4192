package main

import (
	"time"

	"github.com/go-openapi/swag"
)

var names = []string{"sampleTextHttpUrl", "find_thing_by_id", "getUserGUIDFromXMLHTTPRequest", "日本語sample 2 Text", "api_v1_pods_namespace_status"}

func main() { work(2, time.Millisecond, generate) }

func generate() {
	for range 100 {
		for _, name := range names {
			swag.ToGoName(name)
			swag.ToFileName(name)
		}
	}
}
