package monitor

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/cpprof/cpprof/sampledata"
)

// parsePrometheus reads the text format of Prometheus. Of a
// histogram it takes the number of values and their sum, of a
// summary also the quantiles.
func parsePrometheus(body []byte) ([]number, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("the answer can't be read: %w", err)
	}
	var all []number
	for _, name := range slices.Sorted(maps.Keys(families)) {
		for _, m := range families[name].Metric {
			all = append(all, numbersOf(name, m)...)
		}
	}
	return all, nil
}

func numbersOf(name string, m *dto.Metric) []number {
	labels := m.GetLabel()
	one := func(suffix string, kind sampledata.Kind, value float64, extra ...string) number {
		return number{sampledata.Monitor{
			Name: name + suffix + labelText(labels, extra...), Layer: layerOf(name),
			Kind: kind, Unit: unitOf(strings.TrimSuffix(name, "_total"), suffix),
		}, value}
	}
	switch {
	case m.Counter != nil:
		return []number{one("", sampledata.Counter, m.Counter.GetValue())}
	case m.Gauge != nil:
		return []number{one("", sampledata.Level, m.Gauge.GetValue())}
	case m.Untyped != nil:
		return []number{one("", sampledata.Level, m.Untyped.GetValue())}
	case m.Histogram != nil:
		h := m.Histogram
		return []number{one("_count", sampledata.Counter, float64(h.GetSampleCount())),
			one("_sum", sampledata.Counter, h.GetSampleSum())}
	case m.Summary != nil:
		s := m.Summary
		all := []number{one("_count", sampledata.Counter, float64(s.GetSampleCount())),
			one("_sum", sampledata.Counter, s.GetSampleSum())}
		for _, q := range s.Quantile {
			all = append(all, one("", sampledata.Level, q.GetValue(), "quantile",
				strconv.FormatFloat(q.GetQuantile(), 'g', -1, 64)))
		}
		return all
	}
	return nil
}

// labelText writes labels as Prometheus does: {code="200"}.
func labelText(labels []*dto.LabelPair, extra ...string) string {
	var list []string
	for _, l := range labels {
		list = append(list, l.GetName()+"="+strconv.Quote(l.GetValue()))
	}
	for i := 0; i+1 < len(extra); i += 2 {
		list = append(list, extra[i]+"="+strconv.Quote(extra[i+1]))
	}
	if len(list) == 0 {
		return ""
	}
	return "{" + strings.Join(list, ",") + "}"
}

// layerOf returns the layer by the name: Prometheus' library for
// Go publishes numbers of the runtime and of the process.
func layerOf(name string) sampledata.Layer {
	switch {
	case strings.HasPrefix(name, "go_"):
		return sampledata.Runtime
	case strings.HasPrefix(name, "process_"):
		return sampledata.Kernel
	}
	return sampledata.Application
}

// unitOf returns the unit that a name ends with, as is the custom.
func unitOf(name, suffix string) string {
	switch {
	case suffix == "_count":
	case strings.HasSuffix(name, "_seconds"):
		return "s"
	case strings.HasSuffix(name, "_bytes"):
		return "bytes"
	}
	return ""
}

// maxExpvarDepth is how deep numbers in objects of a JSON object
// are taken.
const maxExpvarDepth = 4

// parseExpvar reads a JSON object. The numbers in it and in its
// objects are levels: JSON does not say which ones only grow.
func parseExpvar(body []byte) ([]number, error) {
	var root map[string]any
	d := json.NewDecoder(bytes.NewReader(body))
	if err := d.Decode(&root); err != nil {
		return nil, fmt.Errorf("the answer can't be read: %w", err)
	}
	if root == nil {
		return nil, errors.New("the answer is no JSON object")
	}
	return expvarNumbers("", root, maxExpvarDepth), nil
}

func expvarNumbers(path string, object map[string]any, depth int) (all []number) {
	for _, key := range slices.Sorted(maps.Keys(object)) {
		m := sampledata.Monitor{Name: path + key, Layer: sampledata.Application,
			Kind: sampledata.Level}
		switch v := object[key].(type) {
		case float64:
			all = append(all, number{m, v})
		case bool:
			n := 0.0
			if v {
				n = 1
			}
			all = append(all, number{m, n})
		case map[string]any:
			if depth > 0 {
				all = append(all, expvarNumbers(m.Name+".", v, depth-1)...)
			}
		}
	}
	return all
}
