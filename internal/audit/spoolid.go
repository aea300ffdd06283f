package audit

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"strings"
)

// spoolID reads the spool's id, or makes one.
func spoolID(path string) (string, error) {
	b, err := os.ReadFile(path)
	if err == nil && len(strings.TrimSpace(string(b))) > 0 {
		return strings.TrimSpace(string(b)), nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	id := rand.Text()
	return id, os.WriteFile(path, []byte(id+"\n"), 0o600)
}
