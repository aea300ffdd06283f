//go:build race

package hotpath

const raceEnabled = true
