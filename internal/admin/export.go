package admin

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/interlock-gateway/interlock/internal/audit"
	"github.com/interlock-gateway/interlock/internal/resource"
)

// exportEvents streams rows without holding more than a batch of them.
func (s *server) exportEvents(ctx context.Context, q *search, format string) (*eventsOut, error) {
	types := map[string]string{"csv": "text/csv; charset=utf-8", "ndjson": "application/x-ndjson"}
	return &eventsOut{func(hc huma.Context) {
		begun := false
		_, w := humago.Unwrap(hc)
		begin := sync.OnceFunc(func() {
			hc.SetHeader("Content-Type", types[format])
			hc.SetHeader("Content-Disposition", `attachment; filename="audit-events.`+format+`"`)
			hc.SetStatus(http.StatusOK)
			begun = true
		})
		if hc.Method() == http.MethodHead {
			begin()
			return
		}
		out := rowWriter(format, w)
		left := q.in.limitOrAll()
		_, err := q.rows(ctx, 0, func(r *audit.Row) (bool, error) {
			begin()
			if err := out.write(r); err != nil {
				return false, err
			}
			left--
			return left > 0, nil
		})
		if err == nil {
			begin()
			err = out.flush()
		}
		if err != nil && !begun {
			s.problem(ctx, err, resource.Ref{}).write(w)
			return
		}
		if err != nil { // cut the answer off, so that nobody takes it for whole
			if ctx.Err() == nil {
				s.log.ErrorContext(ctx, "an export of the audit broke off", "error", err)
			}
			panic(http.ErrAbortHandler)
		}
	}}, nil
}

// rows of an export are written by one of two.
type rowsTo struct {
	write func(*audit.Row) error
	flush func() error
}

func rowWriter(format string, w io.Writer) rowsTo {
	if format == "csv" {
		return csvRows(w)
	}
	b := bufio.NewWriterSize(w, 32<<10)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	return rowsTo{write: func(r *audit.Row) error { return enc.Encode(r) }, flush: b.Flush}
}

func csvRows(w io.Writer) rowsTo {
	c := csv.NewWriter(w)
	columns := csvColumns(reflect.TypeFor[audit.Row](), "", nil)
	head := make([]string, len(columns))
	for i, col := range columns {
		head[i] = col.name
	}
	begun := false
	begin := func() error {
		if begun {
			return nil
		}
		begun = true
		return c.Write(head)
	}
	return rowsTo{
		write: func(r *audit.Row) error {
			if err := begin(); err != nil {
				return err
			}
			cells := make([]string, len(columns))
			for i, col := range columns {
				var err error
				if cells[i], err = cell(reflect.ValueOf(r).Elem(), col.index); err != nil {
					return err
				}
			}
			return c.Write(cells)
		},
		flush: func() error {
			if err := begin(); err != nil {
				return err
			}
			c.Flush()
			return c.Error()
		},
	}
}

// csvColumn is a leaf of a row: caller.key.
type csvColumn struct {
	name  string
	index []int
}

func csvColumns(t reflect.Type, prefix string, at []int) []csvColumn {
	var out []csvColumn
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		name = prefix + name
		index := append(append([]int{}, at...), i)
		typ := f.Type
		if typ.Kind() == reflect.Pointer {
			typ = typ.Elem()
		}
		if typ.Kind() == reflect.Struct && typ != reflect.TypeFor[time.Time]() {
			out = append(out, csvColumns(typ, name+".", index)...)
			continue
		}
		out = append(out, csvColumn{name, index})
	}
	return out
}

// cell is a leaf of a row as text; what is not there is empty.
func cell(v reflect.Value, index []int) (string, error) {
	for _, i := range index {
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return "", nil
			}
			v = v.Elem()
		}
		v = v.Field(i)
	}
	if v.IsZero() {
		return "", nil
	}
	switch x := v.Interface().(type) {
	case time.Time:
		return x.UTC().Format("2006-01-02T15:04:05.000000Z"), nil
	case string:
		return spreadsheetSafe(x), nil
	case bool:
		return strconv.FormatBool(x), nil
	case json.Marshaler: // numbers with a form of their own, and raw JSON
		b, err := x.MarshalJSON()
		return string(b), err
	}
	return fmt.Sprint(v.Interface()), nil
}
