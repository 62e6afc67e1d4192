package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/gin-gonic/gin"
)

var engine *gin.Engine

func main() {
	gin.SetMode(gin.ReleaseMode)
	gin.DefaultWriter = io.Discard
	engine = gin.New()
	engine.TrustedProxies = nil
	for i := range 100 {
		engine.TrustedProxies = append(engine.TrustedProxies, fmt.Sprintf("10.%d.0.0/16", i))
	}
	engine.GET("/", func(c *gin.Context) { c.String(200, c.ClientIP()) })
	go engine.Run("127.0.0.1:0")
	time.Sleep(200 * time.Millisecond)
	work(4, time.Millisecond, handle)
}

func handle() {
	for range 50 {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr, r.Header = "10.99.0.1:1", http.Header{"X-Forwarded-For": {"203.0.113.7"}}
		engine.ServeHTTP(httptest.NewRecorder(), r)
	}
}
