package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/interlock-gateway/interlock/internal/audit"
	"github.com/interlock-gateway/interlock/internal/feed"
	"github.com/interlock-gateway/interlock/internal/state"
	"github.com/interlock-gateway/interlock/internal/store"
)

const (
	// pingEvery is how often a stream without news says that it lives.
	pingEvery = 15 * time.Second
	// writeTime is how long a reader may take to take an event.
	writeTime = 10 * time.Second
	// shownAtOnce is how many requests are shown, and shownEvery how often.
	shownAtOnce = 20
	shownEvery  = time.Second
)

// Kinds of events.
const (
	eventConfig  = "config"
	eventRequest = "request"
	eventHealth  = "health"
	eventDropped = "dropped"
)

// ConfigEvent is the news that a configuration version is in use.
func ConfigEvent(version uint64) feed.Event {
	return feed.Event{Kind: eventConfig, Data: liveConfig{int64(version)}}
}

// HealthEvent is the news that the state of a provider changed.
func HealthEvent(e state.Event) feed.Event { return feed.Event{Kind: eventHealth, Data: e} }

func (s *server) streamEvents(ctx context.Context, _ *struct{}) (*eventsOut, error) {
	return &eventsOut{func(hc huma.Context) {
		r, w := humago.Unwrap(hc)
		s.stream(w, r.WithContext(ctx)) // who asks is in there
	}}, nil
}

// stream writes events until the reader leaves, may not read any more, or the
// server stops.
func (s *server) stream(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	reader, err := s.opt.Feed.Listen(principal(ctx).Name)
	switch {
	case errors.Is(err, feed.ErrTooMany):
		tooMany("too_many_streams", pingEvery, "too many pages hear of changes at this moment; close some, or try again").write(w)
		return
	case err != nil:
		fault(http.StatusServiceUnavailable, "stopping", "the server is stopping").write(w)
		return
	}
	defer reader.Close()
	ended, forget := s.sessionEnd(ctx)
	defer forget()
	out := &eventWriter{w: w, control: http.NewResponseController(w)}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no") // a proxy must not collect events
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead || out.comment("connected") != nil {
		return
	}
	if pump, mine := s.opt.Feed.StartPump(); mine {
		go s.pump(pump) //nolint:gosec // it works for all readers, and ends with the last of them
	}
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	for err == nil {
		select {
		case <-ctx.Done():
			return
		case <-s.opt.Feed.Done():
			return
		case <-ended:
			return
		case <-ping.C:
			if !s.stillMay(r) {
				return
			}
			err = out.comment("ping")
		case e := <-reader.C:
			if e.Kind == eventConfig && !s.stillMay(r) {
				return
			}
			if lost := reader.Lost(); lost > 0 {
				err = out.event(eventDropped, liveDropped{lost})
			}
			if err == nil {
				err = out.event(e.Kind, s.shown(e.Data))
			}
		}
	}
}

// sessionEnd is closed when the session of a request ends; nil for a token.
func (s *server) sessionEnd(ctx context.Context) (ended <-chan struct{}, forget func()) {
	if token := session(ctx); token != "" {
		return s.opt.SignIn.Watch(token)
	}
	return nil, func() {}
}

// stillMay tells whether who began a stream may still read it. It is no use of
// the session: a page that is left open does not keep it.
func (s *server) stillMay(r *http.Request) bool {
	if token := session(r.Context()); token != "" {
		id, err := s.opt.SignIn.Look(r.Context(), token)
		return err == nil && Role(id.Role).may(RoleViewer)
	}
	who, err := s.opt.Auth(r)
	return err == nil && who.Role.may(RoleViewer)
}

// shown is the data of an event as readers get it.
func (s *server) shown(data any) any {
	e, ok := data.(state.Event)
	if !ok {
		return data
	}
	out := liveHealth{Provider: string(e.Provider), Event: e.Kind, Time: e.Time.UTC()}
	now := s.opt.Board.Provider(e.Provider)
	out.Breaker, out.BreakerUntil = now.Breaker.State, now.Breaker.Until
	if now.Park != nil {
		out.ParkedUntil = now.Park.Until
	}
	if live := s.live(); live != nil {
		if v := providerIn(live, string(e.Provider)); v != nil {
			all := s.providerHealth(v)
			out.State = &all
		}
	}
	return out
}

// eventWriter writes server-sent events.
type eventWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

func (o *eventWriter) event(kind string, data any) error {
	b, err := json.Marshal(data) // one line: JSON has no line breaks of its own
	if err != nil {
		return err
	}
	return o.write("event: %s\ndata: %s\n\n", kind, b)
}

func (o *eventWriter) comment(text string) error { return o.write(": %s\n\n", text) }

func (o *eventWriter) write(format string, args ...any) error {
	_ = o.control.SetWriteDeadline(time.Now().Add(writeTime)) // a writer without one is a test's
	if _, err := fmt.Fprintf(o.w, format, args...); err != nil {
		return err
	}
	return o.control.Flush()
}

// pump publishes requests that were stored, a few of them, while somebody
// listens.
func (s *server) pump(p *feed.Pump) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-s.opt.Feed.Done():
			cancel()
		case <-ctx.Done():
		}
	}()
	last := int64(0)
	pace := time.NewTicker(shownEvery)
	defer pace.Stop()
	for {
		n, ok := p.Wait()
		if !ok {
			return
		}
		last = s.publishRequests(ctx, n, last)
		select {
		case <-pace.C:
		case <-ctx.Done():
		}
	}
}

// publishRequests publishes the newest of n requests that were stored after a
// record, and returns the newest one.
func (s *server) publishRequests(ctx context.Context, n int, after int64) int64 {
	records, err := s.opt.Records.Records(ctx, store.RecordFilter{Kind: audit.KindRequest}, min(n, shownAtOnce))
	if err != nil {
		if ctx.Err() == nil {
			s.log.WarnContext(ctx, "live pages do not show some requests", "requests", n, "error", err)
		}
		return after
	}
	records = slices.DeleteFunc(records, func(r store.Record) bool { return r.Seq <= after })
	dropped := max(n-len(records), 0)
	for i := range slices.Backward(records) {
		rows, err := audit.Rows(records[i])
		if err != nil || len(rows) == 0 {
			dropped++
			continue
		}
		s.opt.Feed.Publish(feed.Event{Kind: eventRequest, Data: liveRecord{Row: rows[0], Dropped: dropped}})
		after, dropped = records[i].Seq, 0
	}
	return after
}
