package export

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// Headers are read as OpenTelemetry's specification says.
func TestParseHeaders(t *testing.T) {
	for text, want := range map[string]http.Header{
		"":                                   {},
		" , ,":                               {},
		"api-key=abc":                        {"Api-Key": {"abc"}},
		" api-key = abc , x-team=shop,":      {"Api-Key": {"abc"}, "X-Team": {"shop"}},
		"authorization=Basic%20dXNlcjpwYXNz": {"Authorization": {"Basic dXNlcjpwYXNz"}},
		"a=b=c==":                            {"A": {"b=c=="}},
		"a=1%2C2%3D3%25":                     {"A": {"1,2=3%"}},
		"a=1+2":                              {"A": {"1+2"}},
		"a=":                                 {"A": {""}},
		"a=1,a=2":                            {"A": {"2"}},
	} {
		got, err := ParseHeaders(text)
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%q: got %v and %v, want %v", text, got, err, want)
		}
	}
}

// An error names the entry, and no part of a value.
func TestWrongHeaders(t *testing.T) {
	for text, want := range map[string]string{
		"a=1,hunter2":            "entry 2: want key=value",
		"=hunter2":               "entry 1: its key is no name of a header",
		"hunter2 hunter2=x":      "entry 1: its key is no name of a header",
		"a=1,,api-key=hunter2%":  "entry 3, api-key: its value has a % without",
		"api-key=hunter2%zz":     "entry 1, api-key: its value has a % without",
		"api-key=hunter2%0d%0aX": "entry 1, api-key: its value has a character",
		"api-key=hunter2%00":     "entry 1, api-key: its value has a character",
	} {
		_, err := ParseHeaders(text)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}
