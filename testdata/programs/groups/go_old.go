//go:build !go1.25

package main

func startGo() {}
