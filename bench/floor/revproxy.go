package main

import (
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"time"
)

// revproxy is the standard library's proxy. It does not look at the body.
func revproxy(upstream string) http.Handler {
	u := &url.URL{Scheme: "http", Host: upstream}
	return &httputil.ReverseProxy{
		Rewrite:    func(r *httputil.ProxyRequest) { r.SetURL(u) },
		Transport:  transport(),
		BufferPool: &bufPool{},
	}
}

// transport keeps a connection for every client there may be; the default of
// two per host would dial for most requests.
func transport() *http.Transport {
	return &http.Transport{
		DialContext:         (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
		MaxIdleConns:        4096,
		MaxIdleConnsPerHost: 4096,
		IdleConnTimeout:     90 * time.Second,
		DisableCompression:  true,
		WriteBufferSize:     16 << 10,
		ReadBufferSize:      16 << 10,
	}
}

type bufPool struct{ pool sync.Pool }

func (p *bufPool) Get() []byte {
	if b, ok := p.pool.Get().(*[]byte); ok {
		return *b
	}
	return make([]byte, copySize)
}

func (p *bufPool) Put(b []byte) { p.pool.Put(&b) }
