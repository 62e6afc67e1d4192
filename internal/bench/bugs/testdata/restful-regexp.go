package main

import (
	"net/http/httptest"

	"github.com/emicklei/go-restful/v3"
)

// A service has patterns in its paths.
func main() {
	service := new(restful.WebService).Path("/")
	for _, kind := range []string{"users", "groups", "orders", "items"} {
		path := "/{shop:[a-z][a-z0-9-]*}/" + kind + "/{id:[0-9a-f]{8}-[0-9a-f]{4}}"
		service.Route(service.GET(path).To(get))
	}
	container := restful.NewContainer()
	container.Add(service)
	work(2, 0, func() { order(container) })
}

func order(container *restful.Container) {
	w := httptest.NewRecorder()
	container.ServeHTTP(w, httptest.NewRequest("GET", "/garden/orders/0123abcd-00ff", nil))
	if w.Code != 200 {
		panic(w.Code)
	}
}

func get(r *restful.Request, w *restful.Response) {
	w.Write([]byte(r.PathParameter("id")))
}
