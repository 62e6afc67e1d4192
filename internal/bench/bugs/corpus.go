//go:build linux

package main

import (
	"path"
	"strings"

	"github.com/cpprof/cpprof/internal/lists"
)

// A bug is a row of the corpus. Its workload is testdata/NAME.go.
type bug struct {
	name, kind    string
	module        string
	before, fixed string // versions; or MODULE@VERSION, of a fork
	source        string // the report, or the fix
	// the oracle: functions and locks that the fix changed, as
	// they are named in the version before. In the corpus, the
	// module is left out before a dot or slash
	causes []string
}

// cause returns the whole name of a cause. The linker writes
// dots in the last element of a package's path as %2e.
func (g *bug) cause(name string) string {
	folder, last := path.Split(g.module)
	switch name[0] {
	case '.':
		return folder + strings.ReplaceAll(last, ".", "%2e") + name
	case '/':
		return g.module + name
	}
	return name
}

// edits are what else the go.mod of a workload needs: later
// versions of go-metrics have another path, and this one of
// redigo has no checksum.
var edits = map[string][]string{
	"memberlist-queue": {"-require=github.com/armon/go-metrics@v0.3.10"},
	"redsync-pools":    {"-exclude=github.com/garyburd/redigo@v2.0.0+incompatible"},
}

// corpus is in the order of the kinds. The causes were read off
// the difference of the two versions before cpprof saw the
// programs.
var corpus = []bug{
	{"glog-sync", "sync under a lock", "github.com/golang/glog", "v1.2.0", "v1.2.1",
		"https://github.com/golang/glog/pull/68",
		[]string{".(*fileSink).Flush", ".(*fileSink).mu", ".sinks.file.mu"}},
	{"klog-sync", "sync under a lock", "k8s.io/klog/v2", "v2.120.1", "v2.130.1",
		"https://github.com/kubernetes/klog/issues/403",
		[]string{".(*loggingT).lockAndFlushAll", ".(*loggingT).flushAll", ".logging.mu",
			".(*loggingT).mu"}},
	{"nutsdb-sync", "sync under a lock", "github.com/xujiajun/nutsdb", "v0.5.0", "v0.9.0",
		"https://github.com/nutsdb/nutsdb",
		[]string{".(*Tx).Commit", ".(*FileIORWManager).Sync", ".(*DB).mu"}},
	{"influx-writes", "request under a lock", "github.com/influxdata/influxdb-client-go/v2", "v2.10.0", "v2.11.0",
		"https://github.com/influxdata/influxdb-client-go/pull/354",
		[]string{"/api.(*writeAPIBlocking).write", "/api.(*writeAPIBlocking).mu"}},
	{"fiber-cache", "request under a lock", "github.com/gofiber/fiber/v2", "v2.26.0", "v2.39.0",
		"https://github.com/gofiber/fiber/pull/1764",
		[]string{"/middleware/cache.New.func3", "mux in github.com/gofiber/fiber/v2/middleware/cache.New"}},
	{"gorm-prepare", "request under a lock", "gorm.io/gorm", "v1.23.8", "v1.24.0",
		"https://github.com/go-gorm/gorm/pull/5568",
		[]string{".(*PreparedStmtDB).prepare", ".(*PreparedStmtDB).Mux"}},
	{"gock-delay", "request under a lock", "gopkg.in/h2non/gock.v1", "v1.0.3", "v1.0.6",
		"https://github.com/h2non/gock",
		[]string{".(*Transport).RoundTrip", ".(*Transport).mutex"}},
	{"redis-dial", "request under a lock", "github.com/redis/go-redis/v9", "v9.5.1", "v9.7.3",
		"https://github.com/redis/go-redis/pull/3088",
		[]string{".(*hooksMixin).dialHook", ".(*hooksMixin).hooksMu"}},
	{"logrus-hooks", "hooks under a lock", "github.com/sirupsen/logrus", "v1.7.0", "v1.8.1",
		"https://github.com/sirupsen/logrus/issues/1192",
		[]string{".(*Entry).fireHooks", ".(*MutexWrap).lock", ".std.mu.lock", ".(*Logger).mu"}},
	{"ratelimit-lock", "lock", "go.uber.org/ratelimit", "v0.1.0", "v0.2.0",
		"https://github.com/uber-go/ratelimit/pull/20",
		[]string{".(*limiter).Take", ".(*limiter)"}},
	{"prom-summary", "lock", "github.com/prometheus/client_golang", "v0.9.2", "v0.9.3",
		"https://github.com/prometheus/client_golang/pull/521",
		[]string{"/prometheus.(*summary).Observe", "/prometheus.(*summary).bufMtx",
			"/prometheus.(*summary).asyncFlush"}},
	{"limiter-sweep", "lock", "github.com/sethvargo/go-limiter", "v1.0.0", "v1.1.0",
		"https://github.com/sethvargo/go-limiter/issues/54",
		[]string{"/memorystore.(*store).purge", "/memorystore.(*store).dataLock",
			"/memorystore.(*bucket).get", "/memorystore.(*bucket).lock"}},
	{"eventbus-slow", "lock", "github.com/asaskevich/EventBus",
		"v0.0.0-20180315140547-d46933a94f05", "v0.0.0-20200907212545-49d423059eef",
		"https://github.com/asaskevich/EventBus",
		[]string{".(*EventBus).Publish", ".(*EventBus).lock", ".(*eventHandler).Mutex"}},
	{"ttlcache-notify", "a channel at each call", "github.com/ReneKroon/ttlcache/v2", "v2.4.0",
		"github.com/jellydator/ttlcache/v2@v2.11.1",
		"https://github.com/jellydator/ttlcache/pull/57",
		[]string{".(*Cache).Get", ".(*Cache).SetWithTTL", ".(*Cache).getItem",
			".(*Cache).startExpirationProcessing", ".(*Cache).expirationNotification"}},
	{"badger-stall", "sleeps instead of a condition", "github.com/dgraph-io/badger/v4", "v4.9.2", "v4.9.3",
		"https://github.com/dgraph-io/badger/pull/2308",
		[]string{".(*DB).writeRequests", ".(*levelsController).addLevel0Table"}},
	{"mgo-pool", "sleeps instead of a condition", "gopkg.in/mgo.v2", "v2.0.0-20190816093944-a6b53ec6cb22",
		"github.com/globalsign/mgo@v0.0.0-20180615134936-113d3961e731",
		"https://github.com/globalsign/mgo/pull/116",
		[]string{".(*mongoCluster).AcquireSocket", ".(*mongoServer).AcquireSocket"}},
	{"asynq-poll", "sleeps instead of a condition", "github.com/hibiken/asynq",
		"v0.24.1", "v0.25.0",
		"https://github.com/hibiken/asynq/issues/506",
		[]string{".(*processor).exec"}},
	{"fasthttp-stop", "sleeps instead of a condition", "github.com/valyala/fasthttp",
		"v1.16.0", "v1.47.0",
		"https://github.com/valyala/fasthttp",
		[]string{".(*Server).Shutdown", ".(*Server).serveConn"}},
	{"resty-last", "needless sleep", "github.com/go-resty/resty/v2", "v2.3.0", "v2.7.0",
		"https://github.com/go-resty/resty",
		[]string{".Backoff"}},
	{"redsync-pools", "requests one after another", "github.com/go-redsync/redsync",
		"v1.1.0", "v1.4.2",
		"https://github.com/go-redsync/redsync",
		[]string{".(*Mutex).Lock", ".(*Mutex).Unlock", ".(*Mutex).acquire", ".(*Mutex).release"}},
	{"otellog-spin", "spinning", "go.opentelemetry.io/otel/sdk/log", "v0.20.0", "v0.21.0",
		"https://github.com/open-telemetry/opentelemetry-go/blob/main/CHANGELOG.md",
		[]string{".(*BatchProcessor).poll.func1", ".NewBatchProcessor.(*BatchProcessor).poll.func1"}},
	{"sentry-spin", "spinning", "github.com/getsentry/sentry-go", "v0.38.0", "v0.39.0",
		"https://github.com/getsentry/sentry-go/pull/1143",
		[]string{"/internal/telemetry.(*Scheduler).hasWork", "/internal/telemetry.(*Scheduler).run",
			"/internal/telemetry.(*Scheduler).processNextBatch"}},
	{"pgconn-copy", "spinning", "github.com/jackc/pgconn", "v1.5.0", "v1.6.4",
		"https://github.com/jackc/pgconn/issues/39",
		[]string{".(*PgConn).CopyFrom"}},
	{"gocron-wait", "spinning", "github.com/go-co-op/gocron", "v1.11.0", "v1.37.0",
		"https://github.com/go-co-op/gocron/issues/333",
		[]string{".(*executor).start.func1"}},
	{"protojson-loop", "a loop without end", "google.golang.org/protobuf", "v1.32.0", "v1.33.0",
		"https://pkg.go.dev/vuln/GO-2024-2611",
		[]string{"/encoding/protojson.decoder.skipJSONValue", "/internal/encoding/json.(*Decoder).Read"}},
	{"otel-flush", "leak", "go.opentelemetry.io/otel/sdk", "v1.34.0", "v1.35.0",
		"https://github.com/open-telemetry/opentelemetry-go/blob/main/CHANGELOG.md",
		[]string{"/trace.(*batchSpanProcessor).ForceFlush",
			"/trace.(*batchSpanProcessor).ForceFlush.func1"}},
	{"backoff-leak", "leak", "github.com/lestrrat-go/backoff/v2", "v2.0.7", "v2.0.8",
		"https://github.com/lestrrat-go/backoff/pull/30",
		[]string{".(*controller).loop", ".(*controller).next"}},
	{"ldap-timeouts", "leak", "github.com/go-ldap/ldap/v3", "v3.1.10", "v3.4.6",
		"https://github.com/go-ldap/ldap",
		[]string{".(*Conn).processMessages", ".(*Conn).processMessages.func2"}},
	{"health-leak", "leak", "github.com/hellofresh/health-go/v5", "v5.5.3", "v5.5.5",
		"https://github.com/hellofresh/health-go/issues/224",
		[]string{".(*Health).Measure.func1", ".(*Health).Measure.func1.1", ".(*Health).Measure.func1.2"}},
	{"ratecounter-spawn", "goroutines", "github.com/paulbellamy/ratecounter", "v0.1.0", "v0.2.0",
		"https://github.com/paulbellamy/ratecounter",
		[]string{".(*RateCounter).Incr", ".(*RateCounter).scheduleDecrement",
			".(*RateCounter).Incr.gowrap1"}},
	{"pgrep-children", "processes", "github.com/shirou/gopsutil/v3",
		"v3.24.5", "github.com/shirou/gopsutil/v4@v4.24.11",
		"https://github.com/shirou/gopsutil",
		[]string{"/process.(*Process).ChildrenWithContext", "/internal/common.CallPgrepWithContext",
			"/internal/common.Invoke.CommandWithContext"}},
	{"gomemcache-idle", "connections", "github.com/bradfitz/gomemcache",
		"v0.0.0-20160117192205-fb1f79c6b65a", "v0.0.0-20190913173617-a41fca850d0b",
		"https://github.com/bradfitz/gomemcache/issues/90",
		[]string{"/memcache.(*Client).getConn", "/memcache.(*Client).dial",
			"/memcache.(*Client).putFreeConn", "/memcache.(*conn).condRelease"}},
	{"ldap-bytes", "system calls", "github.com/go-ldap/ldap/v3", "v3.1.10", "v3.4.6",
		"https://github.com/go-ldap/ldap/pull/299",
		[]string{".(*Conn).reader", "github.com/go-asn1-ber/asn1-ber.readHeader",
			"github.com/go-asn1-ber/asn1-ber.readIdentifier", "github.com/go-asn1-ber/asn1-ber.readLength",
			"github.com/go-asn1-ber/asn1-ber.readByte"}},
	{"expfmt-writes", "system calls", "github.com/prometheus/common",
		"v0.0.0-20180801064454-c7de2306084e", "v0.2.0",
		"https://github.com/prometheus/common",
		[]string{"/expfmt.MetricFamilyToText", "/expfmt.writeSample", "/expfmt.labelPairsToText"}},
	{"amqp-flush", "system calls", "github.com/rabbitmq/amqp091-go", "v1.5.0", "v1.8.1",
		"https://github.com/rabbitmq/amqp091-go/pull/142",
		[]string{".(*Channel).sendOpen", ".(*Connection).send", ".(*writer).WriteFrame",
			".(*Connection).sendM", ".(*Channel).m"}},
	{"echo-gzip", "encoders", "github.com/labstack/echo/v4", "v4.1.16", "v4.2.1",
		"https://github.com/labstack/echo",
		[]string{"/middleware.GzipWithConfig.func1.1", "main.main.Gzip.GzipWithConfig.func2.1"}}, // its name where the compiler inlines GzipWithConfig
	{"casbin-matcher", "compiled expressions", "github.com/casbin/casbin/v2", "v2.37.0", "v2.77.2",
		"https://github.com/casbin/casbin",
		[]string{".(*Enforcer).enforce"}},
	{"godotenv-regexp", "compiled expressions", "github.com/joho/godotenv", "v1.3.0", "v1.4.0",
		"https://github.com/joho/godotenv/issues/89",
		[]string{".parseValue", ".expandVariables"}},
	{"schema-patterns", "compiled expressions", "github.com/kaptinlin/jsonschema", "v0.2.1", "v0.2.3",
		"https://github.com/kaptinlin/jsonschema/pull/40",
		[]string{".evaluatePattern"}},
	{"restful-regexp", "compiled expressions", "github.com/emicklei/go-restful/v3",
		"v3.12.2", "v3.13.0",
		"https://github.com/emicklei/go-restful/blob/v3/CHANGES.md",
		[]string{".CurlyRouter.regularMatchesPathToken", ".isMatchCustomVerb"}},
	{"gin-proxies", "parsed again", "github.com/gin-gonic/gin", "v1.7.0", "v1.7.1",
		"https://github.com/gin-gonic/gin/issues/2674",
		[]string{".(*Context).RemoteIP", ".(*Engine).prepareTrustedCIDRs"}},
	{"chroma-css", "computed again", "github.com/alecthomas/chroma/v2", "v2.10.0", "v2.14.0",
		"https://github.com/alecthomas/chroma/issues/945",
		[]string{"/formatters/html.(*Formatter).styleToCSS", "/formatters/html.(*Formatter).writeHTML"}},
	{"jwt-split", "allocation", "github.com/golang-jwt/jwt/v4", "v4.5.1", "v4.5.2",
		"https://github.com/golang-jwt/jwt/security/advisories/GHSA-mh63-6h87-95cp",
		[]string{".(*Parser).ParseUnverified"}},
	{"cors-headers", "allocation", "github.com/rs/cors", "v1.10.1", "v1.11.0",
		"https://pkg.go.dev/vuln/GO-2024-2883",
		[]string{".(*Cors).handlePreflight", ".splitHeaderValues", ".convertDidCopy",
			".(*Cors).areHeadersAllowed"}},
	{"schema-index", "allocation", "github.com/gorilla/schema", "v1.3.0", "v1.4.1",
		"https://pkg.go.dev/vuln/GO-2024-2958",
		[]string{".(*Decoder).decode"}},
	{"uniseg-properties", "allocation", "github.com/rivo/uniseg", "v0.2.0", "v0.4.7",
		"https://github.com/rivo/uniseg",
		[]string{".property", ".NewGraphemes", ".(*Graphemes).Next", ".GraphemeClusterCount"}},
	{"swag-names", "allocation", "github.com/go-openapi/swag", "v0.22.4", "v0.22.9",
		"https://github.com/go-openapi/swag",
		[]string{".(*splitter).split", ".(*splitter).toNameLexems", ".(*splitter).gatherInitialismMatches",
			".(*splitter).mapMatchesToNameLexems", ".(*splitter).breakCasualString",
			".(*splitter).initialismRuneEqual", ".newSplitter", ".ToGoName", ".ToFileName", ".Camelize",
			".ToHumanNameLower"}},
	{"grpc-mem", "allocation", "google.golang.org/grpc", "v1.66.2", "v1.69.0",
		"https://github.com/grpc/grpc-go/issues/7631",
		[]string{"/mem.NewBuffer", "/mem.(*sizedBufferPool).Get", "/mem.(*tieredBufferPool).Get",
			"/mem.newSizedBufferPool.func1", "/mem.NewTieredBufferPool.newSizedBufferPool.func1"}},
	{"s3-parts", "allocation", "github.com/aws/aws-sdk-go", "v1.23.20", "v1.29.16",
		"https://github.com/aws/aws-sdk-go/pull/2863",
		[]string{"/service/s3/s3manager.(*uploader).nextReader", "/service/s3/s3manager.(*uploader).init",
			"/service/s3/s3manager.(*uploader).init.func1", "/service/s3/s3manager.(*uploader).initSize",
			"/service/s3/s3manager.(*uploader).upload"}},
	{"yaml-keys", "quadratic loop", "gopkg.in/yaml.v2", "v2.2.7", "v2.2.8",
		"https://pkg.go.dev/vuln/GO-2021-0061",
		[]string{".yaml_parser_fetch_more_tokens", ".yaml_parser_save_simple_key"}},
	{"html-case", "quadratic loop", "golang.org/x/net", "v0.32.0", "v0.33.0",
		"https://pkg.go.dev/vuln/GO-2024-3333",
		[]string{"/html.htmlIntegrationPoint"}},
	{"hpack-partial", "quadratic loop", "golang.org/x/net", "v0.6.0", "v0.7.0",
		"https://pkg.go.dev/vuln/GO-2023-1571",
		[]string{"/http2/hpack.(*Decoder).readString", "/http2/hpack.(*Decoder).parseFieldLiteral"}},
	{"text-tags", "quadratic loop", "golang.org/x/text", "v0.3.7", "v0.3.8",
		"https://pkg.go.dev/vuln/GO-2022-1059",
		[]string{"/language.ParseAcceptLanguage"}},
	{"whatwg-query", "quadratic concatenation", "github.com/nlnwa/whatwg-url", "v0.1.1", "v0.1.2",
		"https://github.com/nlnwa/whatwg-url/issues/8",
		[]string{"/url.(*parser).basicParser"}},
	{"lo-without", "quadratic loop", "github.com/samber/lo", "v1.47.0", "v1.49.0",
		"https://github.com/samber/lo",
		[]string{".Without[go.shape.int,go.shape.[]int]", ".Without[...]"}},
	{"paho-ids", "quadratic loop", "github.com/eclipse/paho.mqtt.golang", "v1.2.0", "v1.3.0",
		"https://github.com/eclipse/paho.mqtt.golang/pull/443",
		[]string{".(*messageIds).getID", ".(*messageIds).RWMutex"}},
	{"memberlist-queue", "quadratic loop", "github.com/hashicorp/memberlist", "v0.1.0", "v0.1.4",
		"https://github.com/hashicorp/memberlist/pull/167",
		[]string{".(*TransmitLimitedQueue).QueueBroadcast", ".(*TransmitLimitedQueue).GetBroadcasts",
			".(*TransmitLimitedQueue).Mutex", ".limitedBroadcasts.Sort", ".limitedBroadcasts.Less",
			".limitedBroadcasts.Swap"}},
	{"match-stars", "exponential loop", "github.com/tidwall/match", "v1.0.3", "v1.1.1",
		"https://pkg.go.dev/vuln/GO-2021-0265",
		[]string{".deepMatch"}},
	{"dig-cycles", "exponential loop", "go.uber.org/dig", "v1.4.0", "v1.5.0",
		"https://github.com/uber-go/dig/blob/master/CHANGELOG.md",
		[]string{".detectCycles", ".verifyAcyclic", ".detectCycles.func1"}},
	{"jose-p2c", "work that others choose", "github.com/go-jose/go-jose/v3", "v3.0.0", "v3.0.1",
		"https://pkg.go.dev/vuln/GO-2023-2334",
		[]string{".(*symmetricKeyCipher).decryptKey"}},
}

// reported returns the corpus with the whole names of the causes.
func reported() []bug {
	return lists.Each(corpus, func(g bug) bug {
		g.causes = lists.Each(g.causes, g.cause)
		return g
	})
}
