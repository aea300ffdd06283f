package control

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/interlock-gateway/interlock/internal/store"
)

// keepSnapshot writes the state beside the store, whole or not at all. Its
// secrets are sealed and its keys hashed, as in the store.
func (c *Control) keepSnapshot(s *store.State) error {
	if c.opt.SnapshotPath == "" {
		return nil
	}
	b, err := json.Marshal(s)
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(c.opt.SnapshotPath), ".snapshot-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // gone after the rename
	_, err = tmp.Write(b)
	if err := errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), c.opt.SnapshotPath)
}

// coldStart publishes the kept snapshot.
func (c *Control) coldStart() error {
	if c.opt.SnapshotPath == "" {
		return errors.New("no last configuration is kept")
	}
	b, err := os.ReadFile(c.opt.SnapshotPath)
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("there is no last configuration to start from")
	}
	if err != nil {
		return fmt.Errorf("read the last configuration: %w", err)
	}
	var s store.State
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("read the last configuration: %w", err)
	}
	done, problems, err := c.compile(&s, nil)
	if err != nil {
		return fmt.Errorf("the last configuration: %w", err)
	}
	if len(problems) > 0 {
		return fmt.Errorf("the last configuration is not valid in this version: %w", problems)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.started, c.revision, c.warnings = true, s.Revision, byObject(done.live.Warnings)
	c.opt.Publish(done.live)
	return nil
}
