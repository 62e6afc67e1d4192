package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
)

// A textfile collector writes 300 series to a file, again and again.
func main() {
	family := requestsTotal()
	crew(2, 5*time.Millisecond, func(n int) func() {
		file := filepath.Join(os.Getenv("WORK_DIR"), fmt.Sprint(n, ".prom"))
		return func() { collect(family, file) }
	})
}

func collect(family *dto.MetricFamily, file string) {
	f, err := os.Create(file)
	check(err)
	defer f.Close()
	_, err = expfmt.MetricFamilyToText(f, family)
	check(err)
}

func requestsTotal() *dto.MetricFamily {
	name, help, kind := "requests_total", "Requests.", dto.MetricType_COUNTER
	family := &dto.MetricFamily{Name: &name, Help: &help, Type: &kind}
	for n := range 300 {
		label, path, count := "path", fmt.Sprint("/item/", n), float64(n)
		family.Metric = append(family.Metric, &dto.Metric{
			Label:   []*dto.LabelPair{{Name: &label, Value: &path}},
			Counter: &dto.Counter{Value: &count},
		})
	}
	return family
}
