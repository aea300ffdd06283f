package cli

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/interlock-gateway/interlock/internal/config"
)

// adminTokenFile is where a generated admin token is kept, in the data folder.
const adminTokenFile = "admin-token"

// withAdminToken lets in the token that a first start made, if there is one
// and nothing else names admin tokens.
func withAdminToken(o config.Options, lookup func(string) (string, bool)) (config.Options, error) {
	// References may name variables that are not set: that is for later.
	loaded, err := loadConfig(config.Options{Sets: o.Sets, LookupEnv: lookup})
	if err != nil {
		return o, err
	}
	path := filepath.Join(loaded.Config.Storage.DataDir, adminTokenFile)
	if len(loaded.Config.Auth.AdminTokens) > 0 {
		return o, nil
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return o, nil
	}
	o.Sets = append([]string{adminTokenSet(path)}, o.Sets...)
	return o, nil
}

// adminTokenSet is the setting that lets in the token of a file.
func adminTokenSet(path string) string {
	list, _ := json.Marshal([]string{"file:" + path}) // texts can be marshaled; JSON is YAML
	return "auth.adminTokens=" + string(list)
}

// makeAdminToken makes a token of 256 random bits and keeps it in a folder,
// where only its owner may read it.
func makeAdminToken(dir string) (path, token string, err error) {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	token = base64.RawURLEncoding.EncodeToString(b[:])
	path = filepath.Join(dir, adminTokenFile)
	if err := os.WriteFile(path, []byte(token+"\n"), 0o600); err != nil {
		return "", "", fmt.Errorf("keep the admin token: %w; make the folder writable, or name your own token in %s", err, adminTokenEnv)
	}
	return path, token, nil
}
