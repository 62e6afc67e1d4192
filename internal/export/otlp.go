package export

import (
	"crypto/sha256"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/google/pprof/profile"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"
)

// otlp is the profiles signal of OpenTelemetry, in its binary form: an
// ExportProfilesServiceRequest of opentelemetry.proto.collector.profiles.
// It has what the format pprof has. Each sample type is a profile of its own,
// and labels, such as the state and the lock, are attributes of samples.
var otlp = Format{
	Name:   "otlp",
	Help:   "OpenTelemetry profiles (v1development), for a collector",
	File:   "run.otlp",
	Binary: true,
	write:  writeOTLP,
}

func writeOTLP(w io.Writer, s *Subject) error {
	b, err := OTLPOf(s)
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}

// OTLPOf returns what the format otlp writes.
func OTLPOf(s *Subject) ([]byte, error) {
	p, err := PprofOf(s)
	if err != nil {
		return nil, err
	}
	to := pprofile.NewProfiles()
	of := to.ResourceProfiles().AppendEmpty()
	if h := s.Recording.Header; h.Executable != "" {
		// attributes of OpenTelemetry's semantic conventions
		about := of.Resource().Attributes()
		about.PutStr("service.name", path.Base(strings.ReplaceAll(h.Executable, `\`, "/")))
		about.PutStr("process.executable.path", h.Executable)
		about.PutInt("process.pid", h.PID)
		about.PutStr("process.runtime.name", "go")
		about.PutStr("process.runtime.version", h.GoVersion)
	}
	scope := of.ScopeProfiles().AppendEmpty()
	scope.Scope().SetName("github.com/cpprof/cpprof")
	newDictionary(to.Dictionary()).addProfiles(scope.Profiles(), p)
	if err := identify(to, scope.Profiles()); err != nil {
		return nil, err
	}
	return (&pprofile.ProtoMarshaler{}).MarshalProfiles(to)
}

// identify sets an ID for each profile. It depends on the content only, so a
// file that is sent twice is recognised.
func identify(of pprofile.Profiles, list pprofile.ProfilesSlice) error {
	content, err := (&pprofile.ProtoMarshaler{}).MarshalProfiles(of)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(content)
	for i, p := range list.All() {
		id := sha256.Sum256(append(sum[:], byte(i)))
		p.SetProfileID(pprofile.ProfileID(id[:16]))
	}
	return nil
}

// A dictionary makes the tables to which profiles refer by index. The first
// entry of each stands for none.
type dictionary struct {
	pprofile.ProfilesDictionary
	strings    map[string]int32
	attributes map[attribute]int32
	functions  map[*profile.Function]int32
	locations  map[*profile.Location]int32
	stacks     map[string]int32 // by the indices of locations
}

// An attribute of a sample or a location. A number has a unit.
type attribute struct {
	key, text string
	number    int64
	isNumber  bool
	unit      string
}

func newDictionary(to pprofile.ProfilesDictionary) *dictionary {
	d := &dictionary{
		to, map[string]int32{}, map[attribute]int32{}, map[*profile.Function]int32{},
		map[*profile.Location]int32{}, map[string]int32{},
	}
	d.text("")
	to.MappingTable().AppendEmpty()
	to.FunctionTable().AppendEmpty()
	to.LocationTable().AppendEmpty()
	to.StackTable().AppendEmpty()
	to.LinkTable().AppendEmpty()
	to.AttributeTable().AppendEmpty()
	return d
}

// addProfiles adds a profile for each sample type; the default one is first.
func (d *dictionary) addProfiles(to pprofile.ProfilesSlice, p *profile.Profile) {
	types := make([]int, len(p.SampleType))
	for i := range types {
		types[i] = i
	}
	slices.SortStableFunc(types, func(a, b int) int {
		return isDefault(p, b) - isDefault(p, a)
	})
	for _, i := range types {
		one := to.AppendEmpty()
		d.setType(one.SampleType(), p.SampleType[i])
		one.SetTime(pcommon.Timestamp(max(0, p.TimeNanos)))
		one.SetDurationNano(uint64(max(0, p.DurationNanos)))
		if p.PeriodType != nil {
			d.setType(one.PeriodType(), p.PeriodType)
			one.SetPeriod(p.Period)
		}
		for _, s := range p.Sample {
			if s.Value[i] != 0 {
				d.addSample(one.Samples(), s, s.Value[i])
			}
		}
	}
}

func isDefault(p *profile.Profile, i int) int {
	if p.SampleType[i].Type == p.DefaultSampleType {
		return 1
	}
	return 0
}

func (d *dictionary) setType(to pprofile.ValueType, t *profile.ValueType) {
	to.SetTypeStrindex(d.text(t.Type))
	to.SetUnitStrindex(d.text(t.Unit))
}

func (d *dictionary) addSample(to pprofile.SampleSlice, s *profile.Sample, value int64) {
	sample := to.AppendEmpty()
	sample.SetStackIndex(d.stack(s.Location))
	sample.Values().Append(value)
	for _, a := range attributesOf(s) {
		sample.AttributeIndices().Append(d.attribute(a))
	}
}

// attributesOf returns the labels of a sample as attributes, in order.
func attributesOf(s *profile.Sample) []attribute {
	var list []attribute
	for key, values := range s.Label {
		for _, v := range values {
			list = append(list, attribute{key: key, text: v})
		}
	}
	for key, values := range s.NumLabel {
		units := s.NumUnit[key]
		for i, v := range values {
			a := attribute{key: key, number: v, isNumber: true}
			if i < len(units) {
				a.unit = units[i]
			}
			list = append(list, a)
		}
	}
	slices.SortFunc(list, func(a, b attribute) int {
		return strings.Compare(a.key+"\x00"+a.text, b.key+"\x00"+b.text)
	})
	return list
}

// text returns the index of a string.
func (d *dictionary) text(s string) int32 {
	return indexOf(d.strings, s, func() int {
		d.StringTable().Append(s)
		return d.StringTable().Len()
	})
}

func (d *dictionary) attribute(a attribute) int32 {
	return indexOf(d.attributes, a, func() int {
		to := d.AttributeTable().AppendEmpty()
		to.SetKeyStrindex(d.text(a.key))
		to.SetUnitStrindex(d.text(a.unit))
		if a.isNumber {
			to.Value().SetInt(a.number)
		} else {
			to.Value().SetStr(a.text)
		}
		return d.AttributeTable().Len()
	})
}

func (d *dictionary) function(f *profile.Function) int32 {
	return indexOf(d.functions, f, func() int {
		to := d.FunctionTable().AppendEmpty()
		to.SetNameStrindex(d.text(f.Name))
		to.SetSystemNameStrindex(d.text(f.SystemName))
		to.SetFilenameStrindex(d.text(f.Filename))
		to.SetStartLine(f.StartLine)
		return d.FunctionTable().Len()
	})
}

func (d *dictionary) location(l *profile.Location) int32 {
	return indexOf(d.locations, l, func() int {
		to := d.LocationTable().AppendEmpty()
		to.SetAddress(l.Address)
		isCode := false
		for _, from := range l.Line {
			line := to.Lines().AppendEmpty()
			line.SetFunctionIndex(d.function(from.Function))
			line.SetLine(from.Line)
			line.SetColumn(from.Column)
			isCode = isCode || from.Function.Filename != ""
		}
		if isCode { // typed time and holders have frames, too
			to.AttributeIndices().Append(d.attribute(attribute{key: "profile.frame.type",
				text: "go"}))
		}
		return d.LocationTable().Len()
	})
}

// stack returns the index of a stack, whose innermost frame is the first.
func (d *dictionary) stack(of []*profile.Location) int32 {
	indices := make([]int32, len(of))
	var key []byte
	for i, l := range of {
		at := d.location(l)
		indices[i], key = at, append(key, byte(at), byte(at>>8), byte(at>>16), byte(at>>24))
	}
	return indexOf(d.stacks, string(key), func() int {
		d.StackTable().AppendEmpty().LocationIndices().FromRaw(indices)
		return d.StackTable().Len()
	})
}

// indexOf returns the index of an entry. If there is none yet, add appends it,
// and returns how many there are then.
func indexOf[K comparable](known map[K]int32, key K, add func() int) int32 {
	at, ok := known[key]
	if !ok {
		at = int32(add() - 1)
		known[key] = at
	}
	return at
}
