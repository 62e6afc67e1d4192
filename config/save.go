package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/cpprof/cpprof/aspects"
	"go.yaml.in/yaml/v3"
)

// SaveAspects saves aspects into a config file. Each replaces the aspect of the same name or is added after the others. The
// rest of the file stays as it is, including comments. If there is no file, SaveAspects creates one; if the file has
// mistakes, it fails and doesn't change the file. Readers see either the old file or the new one.
func SaveAspects(path string, list ...aspects.Aspect) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	data, err := read(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("saving aspects: %w", err)
	}
	if _, err := Parse(path, data); err != nil {
		return fmt.Errorf("saving aspects: correct the mistakes in the file first: %w", err)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return fmt.Errorf("saving aspects: %w", err)
	}
	top := topMapping(&doc)
	for _, a := range list {
		put(child(top, "aspects"), a)
	}
	if data, err = encode(&doc); err != nil {
		return fmt.Errorf("saving aspects: %w", err)
	}
	if _, err := Parse(path, data); err != nil {
		return fmt.Errorf("saving aspects: %w", err)
	}
	if err := replace(path, data); err != nil {
		return fmt.Errorf("saving aspects: %w", err)
	}
	return nil
}

// topMapping returns a document's mapping, or a new one if the document is empty.
func topMapping(doc *yaml.Node) *yaml.Node {
	doc.Kind = yaml.DocumentNode
	if len(doc.Content) == 0 {
		doc.Content = []*yaml.Node{{Kind: yaml.MappingNode}}
	}
	return asMapping(doc.Content[0])
}

// child returns the mapping at a key of a mapping, or a new one if there is none.
func child(n *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return asMapping(n.Content[i+1])
		}
	}
	c := &yaml.Node{Kind: yaml.MappingNode}
	n.Content = append(n.Content, text(key), c)
	return c
}

// asMapping returns the node as a mapping. If the node is null, it becomes an empty mapping.
func asMapping(n *yaml.Node) *yaml.Node {
	if n.Kind != yaml.MappingNode {
		*n = yaml.Node{Kind: yaml.MappingNode, HeadComment: n.HeadComment, LineComment: n.LineComment, FootComment: n.FootComment}
	}
	return n
}

// put adds or replaces an aspect in the mapping of aspects.
func put(n *yaml.Node, a aspects.Aspect) {
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for _, p := range a.Patterns() {
		list.Content = append(list.Content, text(p.String()))
	}
	bare := strings.TrimPrefix(a.Name(), "@")
	for i := 0; i+1 < len(n.Content); i += 2 {
		if strings.TrimPrefix(n.Content[i].Value, "@") == bare {
			n.Content[i+1] = list
			return
		}
	}
	n.Content = append(n.Content, text(bare), list)
	n.Style &^= yaml.FlowStyle
}

func text(s string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
}

func encode(n *yaml.Node) ([]byte, error) {
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(n); err != nil {
		return nil, err
	}
	if err := enc.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// replace replaces the content of a file: it writes a new file beside it, and renames that.
func replace(path string, data []byte) error {
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".cpprof-*.yaml")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // does nothing after the rename
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(mode)
	}
	if err2 := f.Close(); err == nil {
		err = err2
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
