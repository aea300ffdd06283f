package secret

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// The environment variables that name master keys. Each may hold several keys,
// separated by commas or line breaks: the first one seals, the others open
// what was sealed before a change of keys.
const (
	masterEnv     = "INTERLOCK_MASTER_KEY"
	masterFile    = "INTERLOCK_MASTER_KEY_FILE"
	masterCommand = "INTERLOCK_MASTER_KEY_COMMAND"
)

// masterName is the generated key's file in the data directory.
const masterName = "master.key"

// commandTimeout bounds a command that fetches the master key.
const commandTimeout = 30 * time.Second

// MasterKeys finds the master keys: in INTERLOCK_MASTER_KEY, in the file that
// INTERLOCK_MASTER_KEY_FILE names, in what the program of
// INTERLOCK_MASTER_KEY_COMMAND prints, or in dataDir/master.key, which is made
// with a new key if it does not exist.
func MasterKeys(ctx context.Context, dataDir string, lookup func(string) (string, bool)) ([][]byte, error) {
	if lookup == nil {
		lookup = os.LookupEnv
	}
	if v, ok := lookup(masterEnv); ok && v != "" {
		return parseMasters(masterEnv, v)
	}
	if path, ok := lookup(masterFile); ok && path != "" {
		b, err := ReadFile(path, MaxBytes)
		if err != nil {
			return nil, fmt.Errorf("read the master key from %s (%s): %w", path, masterFile, err)
		}
		return parseMasters(path, string(b))
	}
	if command, ok := lookup(masterCommand); ok && command != "" {
		ctx, cancel := context.WithTimeout(ctx, commandTimeout)
		defer cancel()
		out, err := exec.CommandContext(ctx, "sh", "-c", command).Output() //nolint:gosec // the administrator's own command
		if err != nil {
			return nil, fmt.Errorf("run the command of %s: %w", masterCommand, err)
		}
		return parseMasters(masterCommand, string(out))
	}
	return generatedMaster(filepath.Join(dataDir, masterName))
}

// generatedMaster reads the key file of the data directory, or makes it.
func generatedMaster(path string) ([][]byte, error) {
	b, err := ReadFile(path, MaxBytes)
	if err == nil {
		return parseMasters(path, string(b))
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the master key: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make the data directory: %w", err)
	}
	key := make([]byte, 32)
	_, _ = rand.Read(key)                                                 // never fails
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the data directory is the administrator's choice
	if err != nil {
		return nil, fmt.Errorf("make the master key: %w", err)
	}
	_, err = f.WriteString(base64.StdEncoding.EncodeToString(key) + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return nil, fmt.Errorf("make the master key: %w", err)
	}
	return [][]byte{key}, nil
}

// parseMasters reads keys in base64 of 32 bytes or more; any other text of at
// least 32 characters is a key as it is.
func parseMasters(source, text string) ([][]byte, error) {
	var keys [][]byte
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == '\n' || r == '\r' }) {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		key, err := base64.StdEncoding.DecodeString(part)
		if err != nil || len(key) < 32 {
			key = []byte(part)
		}
		if len(key) < 32 {
			return nil, fmt.Errorf("the master key in %s is too short: give at least 32 random bytes in base64", source)
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("there is no master key in %s", source)
	}
	return keys, nil
}
