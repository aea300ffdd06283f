package wire

// SetMax lowers the largest event, so that tests need no 32 MiB.
func (s *EventStream) SetMax(n int) { s.max = n }
