package main

import (
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go/aws"
	"github.com/aws/aws-sdk-go/aws/credentials"
	"github.com/aws/aws-sdk-go/aws/session"
	"github.com/aws/aws-sdk-go/service/s3/s3manager"
)

// Small objects are uploaded from streams.
func main() {
	address := website(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("ETag", `"1"`)
	})
	uploader := s3manager.NewUploader(session.Must(session.NewSession(&aws.Config{
		Region: aws.String("us-east-1"), Endpoint: aws.String("http://" + address),
		S3ForcePathStyle: aws.Bool(true), Credentials: credentials.NewStaticCredentials("id", "key", ""),
	})))
	work(4, time.Millisecond, func() { store(uploader, strings.Repeat("a note. ", 100)) })
}

func store(uploader *s3manager.Uploader, text string) {
	_, err := uploader.Upload(&s3manager.UploadInput{Bucket: aws.String("notes"), Key: aws.String("a"),
		Body: struct{ io.Reader }{strings.NewReader(text)}})
	check(err)
}
