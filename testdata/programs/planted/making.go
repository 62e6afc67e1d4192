package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"math/big"
	"net"
	"time"
)

// handshakes has clients that make a connection for each question. Those of the twin keep theirs, and ask now and then.
func handshakes(healthy bool) {
	key := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	cert := must(x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key))
	l := must(net.Listen("tcp", "127.0.0.1:0"))
	config := &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{cert}, PrivateKey: key}}}
	go listen(l, config)
	for range 8 {
		go customer(l.Addr().String(), healthy)
	}
}

// listen is far away: it begins a handshake after 40 ms.
func listen(l net.Listener, config *tls.Config) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go answers(tls.Server(c, config))
	}
}

func answers(c *tls.Conn) {
	time.Sleep(8 * pace)
	io.Copy(c, c)
	c.Close()
}

func customer(addr string, healthy bool) {
	for c := dial(addr); ; {
		if healthy {
			time.Sleep(40 * pace)
		} else {
			time.Sleep(pace)
			c.Close()
			c = dial(addr)
		}
		query(c)
	}
}

//go:noinline
func dial(addr string) *tls.Conn {
	return must(tls.Dial("tcp", addr, &tls.Config{InsecureSkipVerify: true}))
}
