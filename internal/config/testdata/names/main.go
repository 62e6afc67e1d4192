// Command names links the packages of the built-in aspects, so that a test can read the real names of their functions.
// It is not meant to be run.
package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"database/sql"
	"encoding/base64"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"errors"
	"expvar"
	"fmt"
	"html/template"
	"image"
	"image/png"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/rpc"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"
)

func main() {
	arg := os.Args[0]
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	network(arg)
	forms(arg)
	storage(ctx, arg)
	waiting(ctx)
	fmt.Println(text(arg))
	runtime.GC()
}

func network(arg string) {
	net.LookupHost(arg)
	conn, _ := tls.Dial("tcp", arg, nil)
	conn.Read(nil)
	ln, _ := net.Listen("tcp", arg)
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { io.Copy(w, r.Body) })
	http.Serve(ln, nil)
	http.Get(arg)
	client, _ := rpc.Dial("tcp", arg)
	client.Call(arg, arg, nil)
	rpc.Accept(ln)
}

func forms(arg string) {
	var b bytes.Buffer
	json.NewEncoder(&b).Encode(arg)
	json.Unmarshal(b.Bytes(), &arg)
	xml.NewEncoder(&b).Encode(arg)
	gob.NewEncoder(&b).Encode(arg)
	gzip.NewWriter(&b).Write([]byte(base64.StdEncoding.EncodeToString(b.Bytes())))
	template.Must(template.New("").Parse(arg)).Execute(&b, arg)
	png.Encode(&b, image.NewGray(image.Rect(0, 0, len(arg), 1)))
	sum := sha256.Sum256(b.Bytes())
	rand.Read(sum[:])
	log.Print(errors.Join(errors.New(arg), io.EOF))
	slog.Info(arg, "sum", sum)
	expvar.NewInt(arg)
}

func storage(ctx context.Context, arg string) {
	db, _ := sql.Open(arg, arg)
	rows, _ := db.QueryContext(ctx, arg)
	for rows.Next() {
		rows.Scan(&arg)
	}
	f, _ := os.Open(arg)
	bufio.NewReader(f).ReadString('\n')
	filepath.WalkDir(arg, nil)
	exec.Command(arg).Run()
}

func waiting(ctx context.Context) {
	var mu sync.RWMutex
	var once sync.Once
	var wg sync.WaitGroup
	var m sync.Map
	ready := make(chan int, 1)
	once.Do(func() { mu.Lock() })
	wg.Go(func() { ready <- 1 })
	select {
	case <-ready:
	case <-ctx.Done():
	case <-time.After(time.Second):
	}
	mu.RLock()
	m.Store(1, 2)
	m.Range(func(a, b any) bool { return reflect.DeepEqual(a, b) })
	wg.Wait()
	time.Sleep(time.Second)
}

func text(arg string) string {
	words := strings.Fields(regexp.MustCompile(arg).ReplaceAllString(arg, " "))
	slices.Sort(words)
	sort.Slice(words, func(i, j int) bool { return words[i] > words[j] })
	count := make(map[string]int)
	for _, w := range words {
		count[w]++
	}
	return strings.Repeat(fmt.Sprint(count), 3)
}
