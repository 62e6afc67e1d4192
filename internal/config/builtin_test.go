package config

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/views/calltree"
)

// realNames builds testdata/names and returns the names of its functions.
func realNames(t testing.TB) []string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "names")
	if out, err := exec.Command("go", "build", "-o", bin, "./testdata/names").CombinedOutput(); err != nil {
		t.Fatalf("building testdata/names: %v\n%s", err, out)
	}
	out, err := exec.Command("go", "tool", "nm", bin).Output()
	if err != nil {
		t.Fatalf("reading the names of testdata/names: %v", err)
	}
	var names []string
	for line := range strings.Lines(string(out)) {
		if _, name, ok := strings.Cut(line, " T "); ok {
			names = append(names, strings.TrimSpace(name))
		} else if _, name, ok := strings.Cut(line, " t "); ok {
			names = append(names, strings.TrimSpace(name))
		}
	}
	if len(names) < 1000 {
		t.Fatalf("testdata/names has %d functions only", len(names))
	}
	return names
}

// thirdParty lists the aspects whose members are all outside the standard library.
var thirdParty = []string{"@redis", "@mongo", "@kv", "@messaging", "@cloud", "@yaml", "@protobuf", "@limit"}

func TestBuiltinOnRealNames(t *testing.T) {
	names := realNames(t)
	var syms calltree.Symbols
	for _, n := range names {
		syms.Intern(n)
	}
	m := Builtin().Membership(&syms)
	count := make(map[string]int)
	for f := range calltree.Func(syms.Len()) {
		for _, s := range m.Of(f) {
			count[m.Names()[s]]++
		}
	}
	for _, name := range m.Names() {
		t.Logf("%-12s %4d of %d", name, count[name], len(names))
		if (count[name] == 0) != slices.Contains(thirdParty, name) {
			t.Errorf("%s has %d members", name, count[name])
		}
	}
	spots := map[string]string{
		"encoding/json.Unmarshal":              "@json",
		"encoding/json.(*encodeState).marshal": "@json",
		"runtime.mallocgc":                     "@alloc @runtime",
		"runtime.gcDrain":                      "@gc @runtime",
		"runtime.memmove":                      "@copy @runtime",
		"runtime.memequal":                     "@compare @runtime",
		"runtime.mapassign_faststr":            "@map @runtime",
		"runtime.selectgo":                     "@chan @runtime",
		"runtime.schedule":                     "@sched @runtime",
		"runtime.main":                         "",
		"runtime.gopanic":                      "",
		"internal/poll.(*FD).Read":             "@io",
		"os.(*File).Write":                     "@io @file",
		"syscall.write":                        "@syscall",
		"net.(*Resolver).lookupIPAddr":         "@net @dns",
		"net/http.(*conn).readRequest":         "@http @idle",
		"net/http.(*conn).serve":               "",
		"net/http.HandlerFunc.ServeHTTP":       "",
		"net/http.(*Client).do":                "@http",
		"net/rpc.(*Client).send":               "@grpc",
		"crypto/tls.(*Conn).Handshake":         "@tls @crypto",
		"crypto/sha256.Sum256":                 "@crypto @hash",
		"database/sql.(*DB).QueryContext":      "@sql",
		"compress/flate.(*compressor).deflate": "@compress",
		"sync.(*RWMutex).Lock":                 "@sync",
		"sync.(*Once).doSlow":                  "",
		"log.(*Logger).output":                 "@log",
		"log/slog.(*Logger).log":               "@log",
		"fmt.(*pp).doPrintf":                   "@fmt",
		"reflect.DeepEqual":                    "@reflect",
		"reflect.Value.call":                   "",
		"regexp.(*Regexp).backtrack":           "@regexp",
		"time.Sleep":                           "@time",
		"html/template.(*Template).Execute":    "@template",
		"image/png.(*Encoder).Encode":          "@image",
		"main.main":                            "",
	}
	for name, want := range spots {
		f := syms.Lookup(name)
		if f == calltree.None {
			// A later Go release may have renamed the function.
			// The aspects of the old name are checked all the
			// same.
			t.Logf("%s is not in the program", name)
		}
		var got []string
		for _, a := range Builtin().All() {
			if a.Has(name) {
				got = append(got, a.Name())
			}
		}
		slices.Sort(got)
		wanted := strings.Fields(want)
		slices.Sort(wanted)
		if !slices.Equal(got, wanted) {
			t.Errorf("%s is in %v, want %v", name, got, wanted)
		}
	}
}

func TestBuiltinThirdParty(t *testing.T) {
	for name, want := range map[string]string{
		"go.uber.org/zap.(*Logger).Info":                                  "@log",
		"go.uber.org/zap/zapcore.(*ioCore).Write":                         "@log",
		"github.com/sirupsen/logrus.(*Entry).Infof":                       "@log",
		"github.com/rs/zerolog.(*Event).Msg":                              "@log",
		"github.com/json-iterator/go.(*frozenConfig).Marshal":             "@json",
		"github.com/goccy/go-json/internal/encoder/vm.Run":                "@json",
		"github.com/bytedance/sonic/encoder.Encode":                       "@json",
		"example.org/api.(*Order).MarshalJSON":                            "@json",
		"github.com/jackc/pgx/v5.(*Conn).Query":                           "@sql",
		"github.com/jackc/pgx/v5/pgxpool.(*Pool).Acquire":                 "@sql",
		"github.com/lib/pq.(*conn).recvMessage":                           "@sql",
		"github.com/go-sql-driver/mysql.(*mysqlConn).readPacket":          "@sql",
		"gorm.io/gorm.(*DB).Find":                                         "@sql",
		"gorm.io/gorm.(*DB).Transaction":                                  "",
		"github.com/klauspost/compress/zstd.(*Encoder).EncodeAll":         "@compress",
		"google.golang.org/grpc.(*ClientConn).Invoke":                     "@grpc",
		"google.golang.org/grpc.(*Server).processUnaryRPC":                "",
		"google.golang.org/grpc/internal/transport.(*loopyWriter).run":    "@grpc",
		"google.golang.org/protobuf/proto.Marshal":                        "@protobuf",
		"github.com/gogo/protobuf/proto.Unmarshal":                        "@protobuf",
		"gopkg.in/yaml%2ev3.(*parser).parse":                              "@yaml",
		"github.com/redis/go-redis/v9.(*baseClient).process":              "@redis",
		"go.mongodb.org/mongo-driver/v2/mongo.(*Collection).Find":         "@mongo",
		"go.etcd.io/bbolt.(*Tx).Commit":                                   "@kv",
		"go.etcd.io/bbolt.(*DB).Update":                                   "",
		"github.com/segmentio/kafka-go.(*Writer).WriteMessages":           "@messaging",
		"github.com/prometheus/client_golang/prometheus.(*counter).Inc":   "@telemetry",
		"github.com/gin-gonic/gin.(*Context).JSON":                        "@http",
		"github.com/gin-gonic/gin.(*Context).Next":                        "",
		"github.com/cespare/xxhash/v2.Sum64":                              "@hash",
		"github.com/pkg/errors.Wrap":                                      "@errors",
		"golang.org/x/sync/errgroup.(*Group).Go.func1":                    "",
		"golang.org/x/sync/semaphore.(*Weighted).Acquire":                 "@sync",
		"github.com/acme/shop/internal/log.(*Own).Printf":                 "",
		"github.com/cloudwego/netpoll.(*connection).Flush":                "@net",
		"golang.org/x/net/http2.(*Framer).WriteData":                      "@http",
		"golang.org/x/net/http2.(*serverConn).runHandler":                 "",
		"k8s.io/klog/v2.Infof":                                            "@log",
		"github.com/vmihailenco/msgpack/v5.(*Encoder).Encode":             "@encoding",
		"github.com/google/uuid.NewRandom":                                "@rand",
		"github.com/aws/aws-sdk-go-v2/service/s3.(*Client).GetObject":     "@cloud",
		"github.com/valyala/fasthttp.(*workerPool).workerFunc":            "",
		"github.com/valyala/fasthttp.(*RequestHeader).parse":              "@http",
		"go.opentelemetry.io/otel/sdk/trace.(*batchSpanProcessor).OnEnd":  "@telemetry",
		"github.com/grpc-ecosystem/go-grpc-middleware.ChainUnaryServer.1": "",
	} {
		var got []string
		for _, a := range Builtin().All() {
			if a.Has(name) {
				got = append(got, a.Name())
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s is in %v, want %q", name, got, want)
		}
	}
}

// BenchmarkMembership measures how long it takes to find the
// built-in aspects of a program's functions.
func BenchmarkMembership(b *testing.B) {
	names := realNames(b)
	for _, n := range []int{5_000, 100_000} {
		var syms calltree.Symbols
		random := rand.New(rand.NewPCG(1, 2))
		for i := 0; syms.Len() < n; i++ {
			name := names[random.IntN(len(names))]
			if i >= len(names) {
				name = fmt.Sprintf("%s.func%d", name, i)
			}
			syms.Intern(name)
		}
		b.Run(fmt.Sprintf("functions=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Builtin().Membership(&syms)
			}
		})
	}
}
