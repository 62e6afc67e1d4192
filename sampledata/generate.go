package sampledata

//go:generate go run ./internal/genproto sampledata.proto internal/pb
