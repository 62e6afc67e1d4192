package main

import (
	"io"
	"time"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/formatters/html"
	"github.com/alecthomas/chroma/v2/lexers"
	"github.com/alecthomas/chroma/v2/styles"
)

const code = "func main() {\n\tfmt.Println(\"hello\")\n}\n"

func main() {
	formatter, lexer := html.New(), chroma.Coalesce(lexers.Get("go"))
	style := styles.Get("monokai")
	work(8, time.Millisecond, func() {
		tokens, err := lexer.Tokenise(nil, code)
		check(err)
		check(formatter.Format(io.Discard, style, tokens))
	})
}
