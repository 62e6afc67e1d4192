package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math/big"
	"net"
	"time"

	"github.com/redis/go-redis/v9"
)

// A server is some way off: a handshake takes 10 ms. Connections are made anew after a while.
func main() {
	client := redis.NewClient(&redis.Options{
		Addr: elsewhere(accept(serve)), Protocol: 2, DisableIndentity: true, PoolSize: 16,
		ConnMaxLifetime: 50 * time.Millisecond, TLSConfig: &tls.Config{InsecureSkipVerify: true},
	})
	work(16, 5*time.Millisecond, func() { visit(client) })
}

func visit(client *redis.Client) {
	check(client.Incr(context.Background(), "visits").Err())
}

func serve(raw net.Conn) {
	defer raw.Close()
	time.Sleep(10 * time.Millisecond)
	c := tls.Server(raw, &tls.Config{Certificates: []tls.Certificate{certificate}})
	each(c, func(request []byte) {
		if bytes.Contains(request, []byte("hello")) {
			fmt.Fprint(c, "-ERR unknown command\r\n")
		} else {
			fmt.Fprint(c, ":1\r\n")
		}
	})
}

var certificate = func() tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(err)
	t := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, t, t, key.Public(), key)
	check(err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}()
