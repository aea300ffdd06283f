package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// next finds the first segment at or after n; 0 if there is none. whole is
// closed when nothing is written to it any more; nil for the active segment.
func (s *Spool) next(n int64) (segment int64, whole <-chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	active := s.active.Load()
	all, err := segments(s.opt.Dir)
	if err != nil {
		return 0, nil, fmt.Errorf("list the audit spool: %w", err)
	}
	for _, k := range all {
		switch {
		case k < n:
		case active != nil && k == active.n:
			return k, nil, nil
		case s.running[k] != nil:
			return k, s.running[k].whole, nil
		default: // of an earlier process
			return k, s.over, nil
		}
	}
	return 0, nil, nil
}

// newest is the highest number of a segment.
func (s *Spool) newest() (int64, error) {
	all, err := segments(s.opt.Dir)
	if err != nil || len(all) == 0 {
		return 0, err
	}
	return all[len(all)-1], nil
}

// remove deletes a whole segment that was imported up to an offset; what
// follows there is half a record that a crash cut off. The newest segment
// stays, so that numbers never repeat: last says so.
func (s *Spool) remove(n, offset int64) (last bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all, err := segments(s.opt.Dir)
	if err != nil {
		return false, fmt.Errorf("list the audit spool: %w", err)
	}
	if len(all) == 0 || all[len(all)-1] <= n {
		return true, nil
	}
	return false, s.delete(n, offset)
}

// skipTo takes what was imported by an earlier process off what is pending,
// and deletes segments that it was killed before it could delete.
func (s *Spool) skipTo(n, offset int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	all, err := segments(s.opt.Dir)
	if err != nil {
		return fmt.Errorf("list the audit spool: %w", err)
	}
	for _, k := range all {
		switch {
		case k < n && s.running[k] == nil:
			if err := s.delete(k, 0); err != nil {
				return err
			}
		case k == n:
			if info, err := os.Stat(s.path(k)); err == nil {
				s.pending.Add(-min(offset, info.Size()))
			}
		}
	}
	return nil
}

// delete removes a file and takes what lies behind offset off what is
// pending.
func (s *Spool) delete(n, offset int64) error {
	info, err := os.Stat(s.path(n))
	if err == nil {
		err = os.Remove(s.path(n))
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil {
		return fmt.Errorf("remove an imported segment of the audit spool: %w", err)
	}
	if info != nil {
		s.pending.Add(min(offset, info.Size()) - info.Size())
	}
	delete(s.running, n)
	return nil
}
