package audit

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"strings"
)

// readSpoolID reads the spool's id; it is empty if there is none.
func readSpoolID(path string) (string, error) {
	b, err := os.ReadFile(path) //nolint:gosec // in the spool's own folder
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return strings.TrimSpace(string(b)), err
}

// newSpoolID makes an id and keeps it.
func newSpoolID(path string) (string, error) {
	id := rand.Text()
	if err := os.WriteFile(path+".new", []byte(id+"\n"), 0o600); err != nil {
		return "", err
	}
	return id, os.Rename(path+".new", path)
}
