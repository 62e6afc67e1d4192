package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/aspects"
	"github.com/cpprof/cpprof/internal/files"
	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/views/calltree"
	"go.yaml.in/yaml/v3"
)

// SaveAspects saves aspects into a config file. Each replaces
// the aspect of the same name or is added after the others. The
// rest of the file stays as it is, including comments. If there
// is no file, SaveAspects creates one; if the file has mistakes,
// it fails and doesn't change the file. Readers see either the
// old file or the new one.
func SaveAspects(path string, list ...aspects.Aspect) error {
	return save("aspects", path, func(top *yaml.Node, _ *Config) error {
		for _, a := range list {
			put(child(top, "aspects"), "@", strings.TrimPrefix(a.Name(), "@"), a.Patterns())
		}
		return nil
	})
}

// SaveMerges saves merged classes into a config file as
// SaveAspects saves aspects, and removes those named in gone
// from it. A merge adds its patterns to an earlier merge of the
// same name, in the file or in the list.
func SaveMerges(path string, gone []string, list ...Merge) error {
	return save("merged classes", path, func(top *yaml.Node, c *Config) error {
		kept := slices.DeleteFunc(c.Merges,
			func(m Merge) bool { return slices.Contains(gone, m.Name) })
		all, err := joined(slices.Concat(kept, list))
		if err != nil {
			return err
		}
		merges := child(top, "merge")
		for _, name := range gone {
			drop(merges, calltree.MergedClass, name)
		}
		for _, m := range all {
			if slices.ContainsFunc(list, func(l Merge) bool { return l.Name == m.Name }) {
				put(merges, calltree.MergedClass, m.Name, m.Classes)
			}
		}
		return nil
	})
}

// joined joins merges of the same name into the first of them.
// It fails if that would make other classes: {io: [a]} and {io:
// [b]} are {io: [a, b]}, but a pattern with "!", such as {io:
// [b*, !ba]}, would exclude from both.
func joined(merges []Merge) (list []Merge, err error) {
	excludes := func(m Merge) bool {
		return slices.ContainsFunc(m.Classes, aspects.Pattern.Exclude)
	}
	for _, m := range merges {
		i := slices.IndexFunc(list, func(l Merge) bool { return l.Name == m.Name })
		if i < 0 {
			list = append(list, m)
			continue
		}
		between := slices.ContainsFunc(list[i+1:],
			func(l Merge) bool { return aspects.Matches(m.Class(), l.Classes) })
		if between || excludes(list[i]) || excludes(m) {
			return nil, fmt.Errorf("%s is merged twice, which the file can't have: split it, and merge all of it at once", m.Class())
		}
		list[i].Classes = slices.Concat(list[i].Classes, m.Classes)
	}
	return list, nil
}

// save changes a config file, or creates it. The change gets the
// file's top mapping and its content.
func save(what, path string, change func(*yaml.Node, *Config) error) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	fail := func(err error) error { return fmt.Errorf("saving %s: %w", what, err) }
	data, err := files.Read(path, maxSize+1)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fail(err)
	}
	c, err := Parse(path, data)
	if err != nil {
		return fail(fmt.Errorf("correct the mistakes in the file first: %w", err))
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return fail(err)
	}
	if err := change(topMapping(&doc), c); err != nil {
		return fail(err)
	}
	if data, err = encode(&doc); err != nil {
		return fail(err)
	}
	if _, err := Parse(path, data); err != nil {
		return fail(err)
	}
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	if err := files.Replace(path, data, mode); err != nil {
		return fail(err)
	}
	return nil
}

// topMapping returns a document's mapping, or a new one if the
// document is empty.
func topMapping(doc *yaml.Node) *yaml.Node {
	doc.Kind = yaml.DocumentNode
	if len(doc.Content) == 0 {
		doc.Content = []*yaml.Node{{Kind: yaml.MappingNode}}
	}
	return asMapping(doc.Content[0])
}

// child returns the mapping at a key of a mapping, or a new one
// if there is none.
func child(n *yaml.Node, key string) *yaml.Node {
	if i := find(n, "", key); i >= 0 {
		return asMapping(n.Content[i+1])
	}
	c := &yaml.Node{Kind: yaml.MappingNode}
	n.Content = append(n.Content, text(key), c)
	return c
}

// asMapping returns the node as a mapping. If the node is null,
// it becomes an empty mapping.
func asMapping(n *yaml.Node) *yaml.Node {
	if n.Kind != yaml.MappingNode {
		*n = yaml.Node{Kind: yaml.MappingNode, HeadComment: n.HeadComment,
			LineComment: n.LineComment, FootComment: n.FootComment}
	}
	return n
}

// put adds or replaces a list of patterns in a mapping by names,
// which may have a prefix in the file.
func put(n *yaml.Node, prefix, name string, patterns []aspects.Pattern) {
	list := &yaml.Node{Kind: yaml.SequenceNode, Content: lists.Each(patterns,
		func(p aspects.Pattern) *yaml.Node { return text(p.String()) })}
	if i := find(n, prefix, name); i >= 0 {
		n.Content[i+1] = list
		return
	}
	n.Content = append(n.Content, text(name), list)
	n.Style &^= yaml.FlowStyle
}

// drop removes a name from such a mapping.
func drop(n *yaml.Node, prefix, name string) {
	if i := find(n, prefix, name); i >= 0 {
		n.Content = slices.Delete(n.Content, i, i+2)
	}
}

// find returns the index of a name's key in such a mapping, or -1.
func find(n *yaml.Node, prefix, name string) int {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if strings.TrimPrefix(n.Content[i].Value, prefix) == name {
			return i
		}
	}
	return -1
}

func text(s string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
}

func encode(n *yaml.Node) ([]byte, error) {
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	err := enc.Encode(n)
	return b.Bytes(), errors.Join(err, enc.Close())
}
