package main

import (
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/emptypb"
)

func main() { work(1, 10*time.Millisecond, handle) }

func handle() {
	options := protojson.UnmarshalOptions{DiscardUnknown: true}
	options.Unmarshal([]byte(`{"":}`), &emptypb.Empty{})
}
