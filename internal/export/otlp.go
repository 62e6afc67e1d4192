package export

import (
	"crypto/sha256"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/google/pprof/profile"
	"google.golang.org/protobuf/encoding/protowire"
)

// otlp is the profiles signal of OpenTelemetry, in its binary
// form: an ExportProfilesServiceRequest of
// opentelemetry.proto.collector.profiles. It has what the format
// pprof has. Each sample type is a profile of its own, and
// labels, such as the state and the lock, are attributes of
// samples.
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

// OTLPOf returns what the format otlp writes. The numbers of
// fields come from opentelemetry/proto/profiles/v1development.
func OTLPOf(s *Subject) ([]byte, error) {
	p, err := PprofOf(s)
	if err != nil {
		return nil, err
	}
	d := newDictionary()
	profiles := d.profiles(p)
	sum := sha256.Sum256(request(s, profiles, d))
	for i := range profiles { // the same ID for the same content: a file that is sent twice is recognised
		id := sha256.Sum256(append(sum[:], byte(i)))
		profiles[i].bytes(7, id[:16])
	}
	return request(s, profiles, d), nil
}

// request returns an ExportProfilesServiceRequest.
func request(s *Subject, profiles []message, d *dictionary) message {
	var resource, scope, scoped, of, all message
	if h := s.Recording.Header; h.Executable != "" {
		// attributes of OpenTelemetry's semantic conventions
		about := []attribute{
			{key: "service.name", text: path.Base(strings.ReplaceAll(h.Executable, `\`, "/"))},
			{key: "process.executable.path", text: h.Executable},
			{key: "process.pid", number: h.PID, isNumber: true},
			{key: "process.runtime.name", text: "go"},
			{key: "process.runtime.version", text: h.GoVersion},
		}
		if h.Container != "" {
			about = append(about, attribute{key: "container.id", text: h.Container})
		}
		for _, a := range about {
			var of message
			of.bytes(1, []byte(a.key))
			of.bytes(2, a.value())
			resource.bytes(1, of)
		}
	}
	scope.bytes(1, []byte("github.com/cpprof/cpprof"))
	scoped.bytes(1, scope)
	for _, p := range profiles {
		scoped.bytes(2, p)
	}
	of.bytes(1, resource)
	of.bytes(2, scoped)
	all.bytes(1, of)
	all.bytes(2, d.tables)
	return all
}

// A message is one in the form of Protocol Buffers.
type message []byte

// number adds a field, unless it is 0.
func (m *message) number(field protowire.Number, n int64) {
	if n != 0 {
		*m = protowire.AppendVarint(protowire.AppendTag(*m, field, protowire.VarintType), uint64(n))
	}
}

func (m *message) bytes(field protowire.Number, b []byte) {
	*m = protowire.AppendBytes(protowire.AppendTag(*m, field, protowire.BytesType), b)
}

// numbers adds a list, unless it is empty.
func (m *message) numbers(field protowire.Number, list ...int64) {
	var packed []byte
	for _, n := range list {
		packed = protowire.AppendVarint(packed, uint64(n))
	}
	if len(list) > 0 {
		m.bytes(field, packed)
	}
}

// A dictionary makes the tables to which profiles refer by
// index. The first entry of each stands for none.
type dictionary struct {
	tables     message
	strings    map[string]int64
	attributes map[attribute]int64
	functions  map[*profile.Function]int64
	locations  map[*profile.Location]int64
	stacks     map[string]int64 // by the indices of locations
}

// The tables of a dictionary, by their fields.
const (
	inMappings protowire.Number = 1 + iota
	inLocations
	inFunctions
	inLinks
	inStrings
	inAttributes
	inStacks
)

// An attribute of a sample or a location. A number has a unit.
type attribute struct {
	key, text string
	number    int64
	isNumber  bool
	unit      string
}

// value returns an AnyValue.
func (a attribute) value() (v message) {
	if !a.isNumber {
		v.bytes(1, []byte(a.text))
		return v
	}
	return protowire.AppendVarint(protowire.AppendTag(nil, 3, protowire.VarintType), uint64(a.number))
}

func newDictionary() *dictionary {
	d := &dictionary{
		nil, map[string]int64{"": 0}, map[attribute]int64{{}: 0}, map[*profile.Function]int64{nil: 0},
		map[*profile.Location]int64{nil: 0}, map[string]int64{"": 0},
	}
	for table := inMappings; table <= inStacks; table++ {
		d.tables.bytes(table, nil)
	}
	return d
}

// profiles returns a profile for each sample type; the default
// one is first.
func (d *dictionary) profiles(p *profile.Profile) (all []message) {
	types := make([]int, len(p.SampleType))
	for i := range types {
		types[i] = i
	}
	slices.SortStableFunc(types, func(a, b int) int {
		return isDefault(p, b) - isDefault(p, a)
	})
	for _, i := range types {
		var one message
		one.bytes(1, d.valueType(p.SampleType[i]))
		one = protowire.AppendTag(one, 3, protowire.Fixed64Type)
		one = protowire.AppendFixed64(one, uint64(max(0, p.TimeNanos)))
		one.number(4, max(0, p.DurationNanos))
		if p.PeriodType != nil {
			one.bytes(5, d.valueType(p.PeriodType))
			one.number(6, p.Period)
		}
		for _, s := range p.Sample {
			if s.Value[i] != 0 {
				one.bytes(2, d.sample(s, s.Value[i]))
			}
		}
		all = append(all, one)
	}
	return all
}

func isDefault(p *profile.Profile, i int) int {
	if p.SampleType[i].Type == p.DefaultSampleType {
		return 1
	}
	return 0
}

func (d *dictionary) valueType(t *profile.ValueType) (m message) {
	m.number(1, d.text(t.Type))
	m.number(2, d.text(t.Unit))
	return m
}

func (d *dictionary) sample(s *profile.Sample, value int64) (m message) {
	m.number(1, d.stack(s.Location))
	m.numbers(2, lists.Each(attributesOf(s), d.attribute)...)
	m.numbers(4, value)
	return m
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
func (d *dictionary) text(s string) int64 {
	return indexOf(d, inStrings, d.strings, s, func() message { return message(s) })
}

func (d *dictionary) attribute(a attribute) int64 {
	return indexOf(d, inAttributes, d.attributes, a, func() (m message) {
		m.number(1, d.text(a.key))
		m.bytes(2, a.value())
		m.number(3, d.text(a.unit))
		return m
	})
}

func (d *dictionary) function(f *profile.Function) int64 {
	return indexOf(d, inFunctions, d.functions, f, func() (m message) {
		m.number(1, d.text(f.Name))
		m.number(2, d.text(f.SystemName))
		m.number(3, d.text(f.Filename))
		m.number(4, f.StartLine)
		return m
	})
}

func (d *dictionary) location(l *profile.Location) int64 {
	return indexOf(d, inLocations, d.locations, l, func() (m message) {
		m.number(2, int64(l.Address))
		isCode := false
		for _, from := range l.Line {
			var line message
			line.number(1, d.function(from.Function))
			line.number(2, from.Line)
			line.number(3, from.Column)
			m.bytes(3, line)
			isCode = isCode || from.Function.Filename != ""
		}
		if isCode { // typed time and holders have frames, too
			m.numbers(4, d.attribute(attribute{key: "profile.frame.type", text: "go"}))
		}
		return m
	})
}

// stack returns the index of a stack, whose innermost frame is the first.
func (d *dictionary) stack(of []*profile.Location) int64 {
	var m message
	m.numbers(1, lists.Each(of, d.location)...)
	return indexOf(d, inStacks, d.stacks, string(m), func() message { return m })
}

// indexOf returns the index of an entry of a table. If there is
// none yet, make makes it.
func indexOf[K comparable](d *dictionary, table protowire.Number, known map[K]int64, key K,
	make func() message) int64 {
	at, ok := known[key]
	if !ok {
		entry := make() // which may add to other tables
		at = int64(len(known))
		known[key] = at
		d.tables.bytes(table, entry)
	}
	return at
}
