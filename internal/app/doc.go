// Package app builds every long-lived part of the server once, in order, and
// takes them down in reverse. It is the only place that wires packages
// together.
package app
