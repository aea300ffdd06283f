package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

func newExport(e *environment) *cobra.Command {
	var file, server string
	out := &choice{"yaml", []string{"yaml", "json"}}
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write a server's resources as documents",
		Long: `Write all resources of a server as documents, to standard output or a file.

The order and the form are fixed: the same resources give the same bytes, so
that an export in version control shows what changed. Secret references are in
it; secrets that are stored on the server are not. Applying an export changes
nothing.`,
		Example: `  interlock export > interlock-resources.yaml
  interlock export -o interlock-resources.yaml
  interlock export --output json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return e.export(cmd.Context(), server, out.value, file)
		},
	}
	cmd.Flags().StringVarP(&file, "out", "o", "", "write to `FILE`, whole or not at all, instead of standard output")
	serverFlag(cmd, &server)
	out.flag(cmd)
	return cmd
}

func (e *environment) export(ctx context.Context, server, format, file string) error {
	c, err := e.connect(server)
	if err != nil {
		return err
	}
	raw, err := c.send(ctx, http.MethodGet, "/export", nil, "format", format)
	if err != nil {
		return err
	}
	if format == "json" {
		var b bytes.Buffer
		if err := json.Indent(&b, raw, "", "  "); err != nil {
			return fmt.Errorf("the answer of %s can't be read; is it an Interlock server of this version? %w", c.base, err)
		}
		raw = append(bytes.TrimSpace(b.Bytes()), '\n')
	}
	if file == "" {
		_, err = e.out.Write(raw)
		return err
	}
	if err := replaceFile(file, raw); err != nil {
		return fmt.Errorf("write the export: %w", err)
	}
	fmt.Fprintf(e.err, "Written to %s.\n", file)
	return nil
}

// replaceFile writes a file so that nobody ever sees a part of it. A file that
// is there keeps its permissions, and a link leads where it did; a device or a
// pipe is simply written to.
func replaceFile(path string, content []byte) (err error) {
	mode := os.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
		if !info.Mode().IsRegular() {
			return os.WriteFile(path, content, mode)
		}
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return err
		}
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // gone after the rename
	_, err = tmp.Write(content)
	if err = errors.Join(err, tmp.Chmod(mode), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
