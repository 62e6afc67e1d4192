//go:build linux

package main

// A bug is a row of the corpus. Its workload is testdata/NAME.go.
type bug struct {
	name, kind    string
	module        string
	before, fixed string // versions
	source        string // the report, or the fix
	// the oracle: functions and locks that the fix changed, as they are named in
	// the version before
	causes []string
}

// corpus is in the order of the kinds. The causes were read off the
// difference of the two versions before cpprof saw the programs.
var corpus = []bug{
	{"glog-sync", "sync under a lock", "github.com/golang/glog", "v1.2.0", "v1.2.1",
		"https://github.com/golang/glog/pull/68",
		[]string{"github.com/golang/glog.(*fileSink).Flush", "github.com/golang/glog.(*fileSink).mu",
			"github.com/golang/glog.sinks.file.mu"}},
	{"klog-sync", "sync under a lock", "k8s.io/klog/v2", "v2.120.1", "v2.130.1",
		"https://github.com/kubernetes/klog/issues/403",
		[]string{"k8s.io/klog/v2.(*loggingT).lockAndFlushAll", "k8s.io/klog/v2.(*loggingT).flushAll",
			"k8s.io/klog/v2.logging.mu", "k8s.io/klog/v2.(*loggingT).mu"}},
	{"ratelimit-lock", "lock", "go.uber.org/ratelimit", "v0.1.0", "v0.2.0",
		"https://github.com/uber-go/ratelimit/pull/20",
		[]string{"go.uber.org/ratelimit.(*limiter).Take", "go.uber.org/ratelimit.(*limiter)"}},
	{"godotenv-regexp", "compiled expressions", "github.com/joho/godotenv", "v1.3.0", "v1.4.0",
		"https://github.com/joho/godotenv/issues/89",
		[]string{"github.com/joho/godotenv.parseValue", "github.com/joho/godotenv.expandVariables"}},
	{"jwt-split", "allocation", "github.com/golang-jwt/jwt/v4", "v4.5.1", "v4.5.2",
		"https://github.com/golang-jwt/jwt/security/advisories/GHSA-mh63-6h87-95cp",
		[]string{"github.com/golang-jwt/jwt/v4.(*Parser).ParseUnverified"}},
	{"yaml-keys", "quadratic loop", "gopkg.in/yaml.v2", "v2.2.7", "v2.2.8",
		"https://pkg.go.dev/vuln/GO-2021-0061",
		[]string{"gopkg.in/yaml%2ev2.yaml_parser_fetch_more_tokens",
			"gopkg.in/yaml%2ev2.yaml_parser_save_simple_key"}},
	{"html-case", "quadratic loop", "golang.org/x/net", "v0.32.0", "v0.33.0",
		"https://pkg.go.dev/vuln/GO-2024-3333",
		[]string{"golang.org/x/net/html.htmlIntegrationPoint"}},
	{"hpack-partial", "quadratic loop", "golang.org/x/net", "v0.6.0", "v0.7.0",
		"https://pkg.go.dev/vuln/GO-2023-1571",
		[]string{"golang.org/x/net/http2/hpack.(*Decoder).readString",
			"golang.org/x/net/http2/hpack.(*Decoder).parseFieldLiteral"}},
	{"text-tags", "quadratic loop", "golang.org/x/text", "v0.3.7", "v0.3.8",
		"https://pkg.go.dev/vuln/GO-2022-1059",
		[]string{"golang.org/x/text/language.ParseAcceptLanguage"}},
}
