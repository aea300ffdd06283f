package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestEveryKindForwards(t *testing.T) {
	large := `{"model":"m","pad":"` + strings.Repeat("x", 200_000) + `"}`
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil || r.URL.Path != "/v1/chat/completions" {
			t.Errorf("%v on %s", err, r.URL.Path)
		}
		if !strings.Contains(string(b), `"stream":true`) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", fmt.Sprint(len(b)))
			_, _ = w.Write(b)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for range 3 {
			fmt.Fprint(w, "data: x\n\n")
			_ = http.NewResponseController(w).Flush()
		}
	}))
	defer up.Close()
	for _, kind := range []string{"revproxy", "nethttp", "nethttp-rawup"} {
		t.Run(kind, func(t *testing.T) {
			h, err := handler(kind, strings.TrimPrefix(up.URL, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			srv := httptest.NewServer(h)
			defer srv.Close()
			for body, want := range map[string]string{
				`{"model":"m"}`:               `{"model":"m"}`,
				large:                         large,
				`{"model":"m","stream":true}`: strings.Repeat("data: x\n\n", 3),
			} {
				for range 2 { // the second on a kept connection
					status, got := post(t, srv.URL, body)
					if status != 200 || got != want {
						t.Errorf("%.40s: %d, %.40s", body, status, got)
					}
				}
			}
			if kind == "revproxy" {
				return
			}
			for _, bad := range []string{`{`, `{"stream":true}`} {
				if status, _ := post(t, srv.URL, bad); status != http.StatusBadRequest {
					t.Errorf("%s: %d", bad, status)
				}
			}
		})
	}
	if _, err := handler("carrier-pigeon", ""); err == nil {
		t.Error("an unknown kind was accepted")
	}
}

func post(t *testing.T, url, body string) (int, string) {
	t.Helper()
	resp, err := http.Post(url+"/v1/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Error(err)
	}
	return resp.StatusCode, string(b)
}
