// Command genproto generates the Go code of sampledata.proto. It needs only
// Go: protocompile compiles the file, and the library of protoc-gen-go
// generates the code.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/bufbuild/protocompile"
	gengo "google.golang.org/protobuf/cmd/protoc-gen-go/internal_gengo"
	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: genproto FILE.proto FOLDER")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "genproto:", err)
		os.Exit(1)
	}
}

// run writes the code of a file, which must not import others,
// to a folder.
func run(file, folder string) error {
	code, err := generate(file)
	if err != nil {
		return err
	}
	for name, content := range code {
		if err := os.WriteFile(filepath.Join(folder, filepath.Base(name)), []byte(content),
			0o644); err != nil {
			return err
		}
	}
	return nil
}

// generate returns the code by file name. It depends only on the
// file's content; comments are copied, too.
func generate(file string) (map[string]string, error) {
	name := filepath.Base(file)
	compiler := protocompile.Compiler{
		Resolver:       &protocompile.SourceResolver{ImportPaths: []string{filepath.Dir(file)}},
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	files, err := compiler.Compile(context.Background(), name)
	if err != nil {
		return nil, fmt.Errorf("compile %s: %w", file, err)
	}
	plugin, err := protogen.Options{}.New(&pluginpb.CodeGeneratorRequest{
		FileToGenerate: []string{name},
		ProtoFile:      []*descriptorpb.FileDescriptorProto{protodesc.ToFileDescriptorProto(files[0])},
	})
	if err != nil {
		return nil, fmt.Errorf("generate code of %s: %w", file, err)
	}
	for _, f := range plugin.Files {
		gengo.GenerateFile(plugin, f)
	}
	response := plugin.Response()
	if response.Error != nil {
		return nil, fmt.Errorf("generate code of %s: %s", file, *response.Error)
	}
	code := make(map[string]string)
	for _, f := range response.File {
		code[f.GetName()] = f.GetContent()
	}
	return code, nil
}
