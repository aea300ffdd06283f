//go:build race

package sqlstore_test

// raceDetector slows SQLite, which is Go code here, by a factor of ten.
const raceDetector = true
