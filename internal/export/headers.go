package export

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// ParseHeaders reads headers in the form of OpenTelemetry's
// variables: entries "key=value" between commas, with values as
// in a URL. Values may be secrets, so an error has none.
func ParseHeaders(text string) (http.Header, error) {
	all := http.Header{}
	for i, entry := range strings.Split(text, ",") {
		if strings.TrimSpace(entry) == "" {
			continue // as a comma at the end leaves it
		}
		key, value, found := strings.Cut(entry, "=")
		key = strings.TrimSpace(key)
		switch {
		case !found:
			return nil, fmt.Errorf("entry %d: want key=value; a comma in a value is %%2C", i+1)
		case !httpguts.ValidHeaderFieldName(key):
			return nil, fmt.Errorf("entry %d: its key is no name of a header: "+
				"a comma in a value is %%2C", i+1)
		}
		decoded, err := url.PathUnescape(strings.TrimSpace(value))
		if err != nil {
			return nil, fmt.Errorf("entry %d, %s: its value has a %% without two hexadecimal digits: "+
				"%%25 stands for %%", i+1, key)
		}
		if !httpguts.ValidHeaderFieldValue(decoded) {
			return nil, fmt.Errorf("entry %d, %s: its value has a character that no header can have",
				i+1, key)
		}
		all.Set(key, decoded)
	}
	return all, nil
}
