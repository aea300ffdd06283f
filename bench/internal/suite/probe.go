package suite

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// send makes one request on a connection of its own: a server that is being
// stopped must not wait for an idle one.
func send(method, url string, body []byte, headers []string) (status int, answer []byte, err error) {
	req, err := http.NewRequestWithContext(context.Background(), method, url, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ":")
		req.Header.Set(name, strings.TrimSpace(value))
	}
	client := http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	answer, err = io.ReadAll(resp.Body)
	return resp.StatusCode, answer, err
}

func get(url string) bool {
	status, _, err := send(http.MethodGet, url, nil, nil)
	return err == nil && status == http.StatusOK
}

func post(t *Target, body []byte) bool {
	status, _, err := send(http.MethodPost, t.URL, body, append([]string{"Content-Type: application/json"}, t.Headers...))
	return err == nil && status == http.StatusOK
}

func setDefaults(mockURL, options string) error {
	status, answer, err := send(http.MethodPut, mockURL+"/defaults", []byte(options), nil)
	if err != nil {
		return err
	}
	if status != http.StatusOK {
		return fmt.Errorf("mock options %q: %s", options, answer)
	}
	return nil
}
