package console

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
)

// Prefix is where the console is.
const Prefix = "/console/"

// noncePlace is replaced in the first page by a text that is new each time, so
// that the page can allow its own styles.
const noncePlace = "__CSP_NONCE__"

// indexFile is the first page, which all pages of the application are.
const indexFile = "index.html"

// Options make a handler.
type Options struct {
	// Files are those of the application; nil if it was not built.
	Files fs.FS
	// HTTPS: browsers reach the server over https, whatever a request says.
	HTTPS bool
}

// file is one file of the application.
type file struct {
	body, gzip []byte // gzip is nil without it
	media      string
	tag        string
	// hashed: its name changes with its content.
	hashed bool
}

type handler struct {
	// app is read when somebody asks: a gateway that nobody administers keeps no
	// copy of it.
	app   func() (*application, error)
	https bool
}

// application is what is served.
type application struct {
	files map[string]*file
	index []byte
}

// New makes a handler.
func New(o Options) http.Handler {
	return &handler{https: o.HTTPS, app: sync.OnceValues(func() (*application, error) { return load(o.Files) })}
}

func load(files fs.FS) (*application, error) {
	a := &application{files: map[string]*file{}, index: []byte(notBuilt)}
	if files == nil {
		return a, nil
	}
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(path.Base(name), ".") || strings.HasSuffix(name, ".gz") {
			return err
		}
		return a.add(files, name)
	})
	if err != nil {
		return nil, fmt.Errorf("read the console: %w", err)
	}
	if f := a.files[indexFile]; f != nil {
		a.index = f.body
		delete(a.files, indexFile)
	}
	return a, nil
}

func (a *application) add(files fs.FS, name string) error {
	body, err := fs.ReadFile(files, name)
	if err != nil {
		return err
	}
	f := &file{body: body, media: mediaType(name), hashed: strings.HasPrefix(name, "assets/")}
	sum := sha256.Sum256(body)
	f.tag = `"` + hex.EncodeToString(sum[:12]) + `"`
	if f.gzip, err = fs.ReadFile(files, name+".gz"); errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	a.files[name] = f
	return err
}

// mediaType does not ask the operating system, where .js can be anything.
func mediaType(name string) string {
	switch path.Ext(name) {
	case ".html":
		return "text/html; charset=utf-8"
	case ".js", ".mjs":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".json", ".map":
		return "application/json"
	case ".webmanifest":
		return "application/manifest+json"
	case ".svg":
		return "image/svg+xml"
	case ".png":
		return "image/png"
	case ".webp":
		return "image/webp"
	case ".ico":
		return "image/x-icon"
	case ".woff2":
		return "font/woff2"
	case ".wasm":
		return "application/wasm"
	case ".txt":
		return "text/plain; charset=utf-8"
	}
	return "application/octet-stream"
}

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	nonce := rand.Text()
	h.protect(w.Header(), r, nonce)
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "pages of the console are read only", http.StatusMethodNotAllowed)
		return
	}
	if r.URL.Path == strings.TrimSuffix(Prefix, "/") {
		http.Redirect(w, r, Prefix, http.StatusPermanentRedirect)
		return
	}
	name, ok := strings.CutPrefix(r.URL.Path, Prefix)
	if !ok {
		http.NotFound(w, r)
		return
	}
	app, err := h.app()
	if err != nil {
		http.Error(w, "the console can't be read; build the program again", http.StatusServiceUnavailable)
		return
	}
	switch f := app.files[name]; {
	case f != nil:
		f.serve(w, r)
	case isPage(name):
		app.first(w, r, nonce)
	default:
		w.Header().Set("Cache-Control", "no-store")
		http.Error(w, "there is no such file in this version of the console; load the page again", http.StatusNotFound)
	}
}

// isPage tells whether a name that is no file can be a page of the application.
// Names of objects have dots as files do, so it is the place that tells: files
// are in the folder of assets, or at the top.
func isPage(name string) bool {
	if strings.Contains(name, "/") {
		return !strings.HasPrefix(name, "assets/") && fs.ValidPath(strings.TrimSuffix(name, "/"))
	}
	return path.Ext(name) == "" || name == indexFile
}

// protect sets what every answer has.
func (h *handler) protect(to http.Header, r *http.Request, nonce string) {
	to.Set("Content-Security-Policy", "default-src 'self'; script-src 'self'; style-src 'self' 'nonce-"+nonce+"'; img-src 'self' data:; font-src 'self'; "+
		"connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'")
	to.Set("X-Content-Type-Options", "nosniff")
	to.Set("X-Frame-Options", "DENY")
	to.Set("Referrer-Policy", "same-origin")
	to.Set("Cross-Origin-Opener-Policy", "same-origin")
	to.Set("Cross-Origin-Resource-Policy", "same-origin")
	to.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	if h.https || r.TLS != nil {
		to.Set("Strict-Transport-Security", "max-age=31536000")
	}
}

// first serves the first page. It has no ETag: an answer without a body would
// leave the old nonce in the page and send a new one in the header.
func (a *application) first(w http.ResponseWriter, r *http.Request, nonce string) {
	body := bytes.ReplaceAll(a.index, []byte(noncePlace), []byte(nonce))
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("Content-Type", mediaType(indexFile))
	send(w, r, body)
}

func (f *file) serve(w http.ResponseWriter, r *http.Request) {
	head, body, tag := w.Header(), f.body, f.tag
	head.Set("Cache-Control", "no-cache")
	if f.hashed {
		head.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	if f.gzip != nil {
		head.Set("Vary", "Accept-Encoding")
		if takesGzip(r.Header.Get("Accept-Encoding")) {
			body, tag = f.gzip, strings.TrimSuffix(tag, `"`)+`-gzip"`
			head.Set("Content-Encoding", "gzip")
		}
	}
	head.Set("Etag", tag)
	if names(r.Header.Get("If-None-Match"), tag) {
		head.Del("Content-Encoding")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	head.Set("Content-Type", f.media)
	send(w, r, body)
}

func send(w http.ResponseWriter, r *http.Request, body []byte) {
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // nobody is left to tell
	}
}

// takesGzip tells whether an Accept-Encoding header takes gzip.
func takesGzip(accept string) bool {
	for part := range strings.SplitSeq(accept, ",") {
		coding, params, _ := strings.Cut(strings.TrimSpace(part), ";")
		if strings.EqualFold(strings.TrimSpace(coding), "gzip") {
			q, found := strings.CutPrefix(strings.ReplaceAll(params, " ", ""), "q=")
			return !found || strings.Trim(q, "0.") != ""
		}
	}
	return false
}

// names tells whether an If-None-Match header has a tag.
func names(header, tag string) bool {
	for part := range strings.SplitSeq(header, ",") {
		if part = strings.TrimSpace(part); part == "*" || strings.TrimPrefix(part, "W/") == tag {
			return true
		}
	}
	return false
}

// notBuilt is the page of a program without the application.
const notBuilt = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Interlock</title>
<style nonce="__CSP_NONCE__">body { font: 16px/1.5 system-ui, sans-serif; margin: 10vh auto; max-width: 40em; padding: 0 1em; color-scheme: light dark }</style>
</head>
<body>
<h1>The console is not in this program</h1>
<p>The gateway works. Its web pages were left out when it was built. To have them, install Node and run:</p>
<pre>make ui build</pre>
<p>Until then, everything that the console does can be done with the command line (<code>interlock --help</code>) and with the
<a href="/api/v1/openapi.json">admin API</a>.</p>
</body>
</html>
`
