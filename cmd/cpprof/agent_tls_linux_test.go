package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
)

// certificate returns a certificate of an authority; of itself
// if there is none.
func certificate(t *testing.T, by *tls.Certificate) tls.Certificate {
	t.Helper()
	key := fixture.Must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	of := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "test"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: by == nil, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	parent, signer := of, any(key)
	if by != nil {
		parent, signer = by.Leaf, by.PrivateKey
	}
	der := fixture.Must(x509.CreateCertificate(rand.Reader, of, parent, key.Public(), signer))(t)
	leaf := fixture.Must(x509.ParseCertificate(der))(t)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

// writePEM writes a certificate and its key to files.
func writePEM(t *testing.T, of tls.Certificate) (cert, key string) {
	t.Helper()
	der := fixture.Must(x509.MarshalPKCS8PrivateKey(of.PrivateKey))(t)
	folder := t.TempDir()
	cert, key = filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	for path, block := range map[string]*pem.Block{
		cert: {Type: "CERTIFICATE", Bytes: of.Certificate[0]}, key: {Type: "PRIVATE KEY", Bytes: der},
	} {
		fixture.Check(t, os.WriteFile(path, pem.EncodeToMemory(block), 0o600))
	}
	return cert, key
}

// With --client-ca, those are served that have a certificate of
// that authority. No other client gets an answer.
func TestAgentClientCertificates(t *testing.T) {
	authority, stranger := certificate(t, nil), certificate(t, nil)
	own, foreign := certificate(t, &authority), certificate(t, &stranger)
	cert, key := writePEM(t, certificate(t, &authority))
	ca, _ := writePEM(t, authority)
	a := startAgent(t, "--tls-cert", cert, "--tls-key", key, "--client-ca", ca)
	pool := x509.NewCertPool()
	pool.AddCert(authority.Leaf)
	for name, c := range map[string]struct {
		certificates []tls.Certificate
		served       bool
	}{
		"none": {nil, false}, "a stranger's": {[]tls.Certificate{foreign}, false}, "its own": {[]tls.Certificate{own}, true},
	} {
		// a client sends its certificate whoever asks for one
		send := func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			if c.certificates == nil {
				return &tls.Certificate{}, nil
			}
			return &c.certificates[0], nil
		}
		client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{
			TLSClientConfig: &tls.Config{RootCAs: pool, GetClientCertificate: send}}}
		for _, path := range []string{"/discovery", "/metrics"} {
			answer, err := client.Get(a.url + path)
			if err == nil {
				answer.Body.Close()
			}
			if served := err == nil && answer.StatusCode == http.StatusOK; served != c.served {
				t.Errorf("a client with the certificate %s: %s: %v, %v", name, path, answer, err)
			}
		}
		client.CloseIdleConnections()
	}
	if answer, err := http.Get("http" + a.url[len("https"):] + "/discovery"); err == nil {
		answer.Body.Close()
		if answer.StatusCode == http.StatusOK {
			t.Error("it answers without TLS")
		}
	}
}
