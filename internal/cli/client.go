package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/secret"
)

// Where a server is, and how to sign in to it.
const (
	serverEnv     = "INTERLOCK_SERVER"
	tokenEnv      = "INTERLOCK_TOKEN"
	adminTokenEnv = "INTERLOCK_ADMIN_TOKEN"
	defaultServer = "http://127.0.0.1:8080"
)

// requestTimeout bounds one call; a large import is checked as a whole.
const requestTimeout = 2 * time.Minute

// maxAnswer bounds what is read of an answer.
const maxAnswer = 256 << 20

// client talks to the admin API of a server.
type client struct {
	base      string
	token     secret.String
	tokenFrom string // the variable
	http      *http.Client
}

// serverFlag adds --server to a command.
func serverFlag(cmd *cobra.Command, server *string) {
	cmd.Flags().StringVar(server, "server", "", "`URL` of the server; else "+serverEnv+", or "+defaultServer)
}

// connect prepares a client; it does not call the server yet.
func (e *environment) connect(server string) (*client, error) {
	from := "--server"
	if server == "" {
		from, server = serverEnv, cmp.Or(e.variable(serverEnv), defaultServer)
	}
	u, err := url.Parse(server)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, usagef("%s is no URL of a server; write it like %s", from, defaultServer)
	}
	c := &client{base: strings.TrimSuffix(strings.TrimSuffix(u.String(), "/"), "/api/v1")}
	for _, name := range []string{tokenEnv, adminTokenEnv} {
		if v := e.variable(name); v != "" && c.tokenFrom == "" {
			if err := resource.CheckSecretText(v); err != nil {
				return nil, usagef("%s: %w", name, err)
			}
			c.token, c.tokenFrom = secret.New(v), name
		}
	}
	if c.tokenFrom == "" {
		return nil, usagef("there is no admin token; set %s to one that the server has in auth.adminTokens, or in %s", tokenEnv, adminTokenEnv)
	}
	c.http = &http.Client{
		Timeout: requestTimeout,
		// A redirect would turn a write into a read, or carry it elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c, nil
}

// apiError is an answer of the API that is an error.
type apiError struct {
	status int
	Code   string          `json:"code"`
	Detail string          `json:"detail"`
	Errors []apiFieldError `json:"errors"`
}

// apiFieldError is one thing that is wrong with a request.
type apiFieldError struct {
	Path    string        `json:"path"`
	Message string        `json:"message"`
	Code    string        `json:"code"`
	Object  *resource.Ref `json:"object"`
}

// Error is what the server says.
func (e *apiError) Error() string { return e.Detail }

// call sends a request and reads the answer into out, unless that is nil. A
// query is of pairs: name, value.
func (c *client) call(ctx context.Context, method, path string, body, out any, query ...string) error {
	raw, err := c.send(ctx, method, path, body, query...)
	if err != nil || out == nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(out); err != nil {
		return fmt.Errorf("the answer of %s can't be read; is it an Interlock server of this version? %w", c.base, err)
	}
	return nil
}

// send sends a request and gives the answer as it is.
func (c *client) send(ctx context.Context, method, path string, body any, query ...string) ([]byte, error) {
	req, err := c.request(ctx, method, path, body, query)
	if err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.unreachable(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("read the answer of %s: %w", c.base, err)
	}
	if resp.StatusCode >= 300 {
		return nil, c.failed(resp, raw)
	}
	return raw, nil
}

func (c *client) request(ctx context.Context, method, path string, body any, query []string) (*http.Request, error) {
	var b io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("write the request: %w", err)
		}
		b = bytes.NewReader(raw)
	}
	values := url.Values{}
	for i := 0; i+1 < len(query); i += 2 {
		values.Set(query[i], query[i+1])
	}
	target := c.base + "/api/v1" + path
	if len(values) > 0 {
		target += "?" + values.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, method, target, b)
	if err != nil {
		return nil, fmt.Errorf("make the request: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+c.token.Reveal())
	req.Header.Set("User-Agent", "interlock-cli/"+version())
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}

// unreachable says why there was no answer, and what to do.
func (c *client) unreachable(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	hint := "check --server or " + serverEnv
	if errors.Is(err, syscall.ECONNREFUSED) {
		hint = "is the server running? Start it with \"interlock serve\", or name another one with --server or " + serverEnv
	}
	return fmt.Errorf("%s can't be reached: %w; %s", c.base, err, hint)
}

// failed turns an answer that is an error into one.
func (c *client) failed(resp *http.Response, raw []byte) error {
	e := &apiError{status: resp.StatusCode}
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	known := media == "application/problem+json" && json.Unmarshal(raw, e) == nil && e.Detail != ""
	switch {
	case resp.StatusCode == http.StatusUnauthorized:
		return fmt.Errorf("%s does not accept the token in %s; set %s to one of its admin tokens (auth.adminTokens)", c.base, c.tokenFrom, tokenEnv)
	case known:
		return e
	case resp.StatusCode < 400:
		return fmt.Errorf("%s redirects to %s; name that server with --server", c.base, resp.Header.Get("Location"))
	case resp.StatusCode == http.StatusNotFound:
		return fmt.Errorf("%s has no admin API (%s); check --server or %s", c.base, resp.Status, serverEnv)
	}
	return fmt.Errorf("%s answered %s, and not as an Interlock server does; check --server or %s", c.base, resp.Status, serverEnv)
}
