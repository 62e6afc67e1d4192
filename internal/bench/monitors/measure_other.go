//go:build !(linux && (amd64 || arm64))

package main

import (
	"errors"
	"time"
)

func measure(string, int, int) (with, without costs, err error) {
	return with, without, errors.New("the snapshot backend is for linux/amd64 and linux/arm64")
}

type sourceCost struct {
	name  string
	every time.Duration
	took  []time.Duration
}

func measureSources(int, int) ([]sourceCost, error) { return nil, nil }
