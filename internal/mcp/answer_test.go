package mcp

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
)

// Long answers are cut to their bound, and say where.
func TestShortenJSON(t *testing.T) {
	rows := make([]map[string]any, 5000)
	for i := range rows {
		rows[i] = map[string]any{"n": i, "name": strings.Repeat("x", 50)}
	}
	document, err := json.Marshal(map[string]any{"rows": rows, "text": strings.Repeat("é", 3000), "exact": json.Number("12345678901234567890")})
	fixture.Check(t, err)
	for _, limit := range []int{8 << 10, 64 << 10} {
		text, cuts, err := shortenJSON(document, limit)
		if err != nil || len(text) > limit || len(text) < limit/4 {
			t.Errorf("%d bytes of at most %d: %v", len(text), limit, err)
		}
		said := strings.Join(cuts, "\n")
		for _, want := range []string{"rows has its beginning only, of a length of up to 5000", "text has its beginning only"} {
			if !strings.Contains(said, want) {
				t.Errorf("cut is %q", said)
			}
		}
		var got struct {
			Rows  []struct{ N int }
			Exact json.Number
		}
		if err := json.Unmarshal([]byte(text), &got); err != nil || got.Exact != "12345678901234567890" || len(got.Rows) == 0 || got.Rows[len(got.Rows)-1].N != len(got.Rows)-1 {
			t.Errorf("%v: %+v", err, got)
		}
	}
	if text, cuts, err := shortenJSON([]byte(`{ "b": [1, 2],  "a": "<x>" }`), 100); text != `{"b":[1,2],"a":"<x>"}` || cuts != nil || err != nil {
		t.Errorf("%s, %q, %v", text, cuts, err)
	}
	if _, _, err := shortenJSON(document, 10); err == nil {
		t.Error("it fits 10 bytes")
	}
}

// A long name stays within the bound, be it a value or a key.
func TestLongNames(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	document := fixture.Must(json.Marshal(map[string]any{"name": long, "table": map[string]any{long: long}}))(t)
	made, _, err := answer(document, long, long)
	fixture.Check(t, err)
	size := 0
	for _, c := range made.Content {
		text := fixture.Must(c.MarshalJSON())(t)
		size += len(text)
	}
	if size > maxAnswer {
		t.Errorf("the answer has %d bytes", size)
	}
}

// Exact numbers become decimals. What only looks like one stays.
func TestDecimals(t *testing.T) {
	const document = `{ "weight": "7655093767/2", "hits":"60", "list":[{"free":"1/3","name":"1/2","woken":"-0","likely":"1/0"}], ` +
		`"{\"weight":"5/2", "big":",\"weight\":\"1/2\"", "time_ns":"123456789012345678901"}`
	const want = `{"weight":3827546883.5,"hits":60,"list":[{"free":0.3333333333333333,"name":"1/2","woken":0,"likely":"1/0"}],` +
		`"{\"weight":"5/2","big":",\"weight\":\"1/2\"","time_ns":123456789012345678901}`
	if text, _, err := shortenJSON([]byte(document), maxAnswer); text != want || err != nil {
		t.Errorf("%s, %v", text, err)
	}
}
