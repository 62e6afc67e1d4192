package export

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/internal/synthetic"
	"github.com/cpprof/cpprof/views"
	"github.com/google/pprof/profile"
	"go.opentelemetry.io/collector/pdata/pprofile"
)

// OpenTelemetry's own reader finds what the format pprof has:
// the same values for the same stacks, with the same labels.
func TestOTLP(t *testing.T) {
	s := subject(t, synthetic.Recording(100, 50, 0.3), views.Options{}, views.Threads)
	s.Recording.Header.Executable = "/srv/bin/shop"
	p := fixture.Must(PprofOf(s))(t)
	got := readOTLP(t, write(t, "otlp", s))
	about := got.ResourceProfiles().At(0).Resource().Attributes().AsRaw()
	if _, contained := about["container.id"]; about["service.name"] != "shop" || contained {
		t.Errorf("the resource is %v", about)
	}
	profiles := got.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles()
	if profiles.Len() != len(p.SampleType) {
		t.Fatalf("%d profiles, want one for each of %d sample types",
			profiles.Len(), len(p.SampleType))
	}
	text := got.Dictionary().StringTable()
	ids := map[string]bool{}
	for i, one := range profiles.All() {
		name := text.At(int(one.SampleType().TypeStrindex()))
		if i == 0 && name != p.DefaultSampleType {
			t.Errorf("the first profile has %q, not the default, %q", name, p.DefaultSampleType)
		}
		want := pprofWeights(p, name)
		if weights := otlpWeights(t, got.Dictionary(), one); !maps.Equal(weights, want) || len(want) < 10 {
			t.Errorf("%s: %d stacks with labels, want %d:\n%v\n%v",
				name, len(weights), len(want), weights, want)
		}
		if int64(one.DurationNano()) != p.DurationNanos || int64(one.Time()) != p.TimeNanos {
			t.Errorf("%s: at %d for %d ns", name, one.Time(), one.DurationNano())
		}
		ids[one.ProfileID().String()] = true
	}
	if len(ids) != profiles.Len() || ids[""] {
		t.Errorf("IDs of %d profiles: %v", profiles.Len(), ids)
	}
}

// The container of a program is an attribute of its resource.
func TestOTLPContainer(t *testing.T) {
	s := subject(t, synthetic.Recording(10, 5, 0.3), views.Options{}, views.Threads)
	s.Recording.Header.Container = "3f5c1f0a"
	about := readOTLP(t, write(t, "otlp", s)).ResourceProfiles().At(0).Resource().Attributes().AsRaw()
	if about["container.id"] != "3f5c1f0a" {
		t.Errorf("the resource is %v", about)
	}
}

func readOTLP(t *testing.T, file string) pprofile.Profiles {
	t.Helper()
	got := fixture.Must((&pprofile.ProtoUnmarshaler{}).UnmarshalProfiles([]byte(file)))(t)
	d := got.Dictionary()
	if d.StringTable().At(0) != "" || d.StackTable().At(0).LocationIndices().Len() != 0 ||
		d.AttributeTable().At(0).KeyStrindex() != 0 || d.LocationTable().At(0).Lines().Len() != 0 {
		t.Error("the first entry of a table is not the one that stands for none")
	}
	return got
}

// pprofWeights returns the values of one sample type, by stack and labels.
func pprofWeights(p *profile.Profile, name string) map[string]int64 {
	at := slices.IndexFunc(p.SampleType, func(t *profile.ValueType) bool { return t.Type == name })
	weights := map[string]int64{}
	for _, s := range p.Sample {
		var key []string
		for _, l := range s.Location {
			for _, line := range l.Line {
				key = append(key, fmt.Sprintf("%s:%d", line.Function.Name, line.Line))
			}
		}
		var labels []string
		for label, values := range s.Label {
			labels = append(labels, label+"="+values[0])
		}
		for label, values := range s.NumLabel {
			labels = append(labels, fmt.Sprint(label, "=", values[0]))
		}
		slices.Sort(labels)
		if s.Value[at] != 0 {
			weights[strings.Join(append(key, labels...), "\n")] += s.Value[at]
		}
	}
	return weights
}

// otlpWeights returns the values of a profile in the same form.
func otlpWeights(t *testing.T, d pprofile.ProfilesDictionary, p pprofile.Profile) map[string]int64 {
	weights := map[string]int64{}
	text := func(i int32) string { return d.StringTable().At(int(i)) }
	for _, s := range p.Samples().All() {
		var key []string
		for _, l := range d.StackTable().At(int(s.StackIndex())).LocationIndices().All() {
			for _, line := range d.LocationTable().At(int(l)).Lines().All() {
				f := d.FunctionTable().At(int(line.FunctionIndex()))
				key = append(key, fmt.Sprintf("%s:%d", text(f.NameStrindex()), line.Line()))
			}
		}
		attributes := fixture.Must(pprofile.FromAttributeIndices(d.AttributeTable(), s, d))(t)
		var labels []string
		for label, value := range attributes.AsRaw() {
			labels = append(labels, fmt.Sprint(label, "=", value))
		}
		slices.Sort(labels)
		weights[strings.Join(append(key, labels...), "\n")] += s.Values().At(0)
	}
	return weights
}
