//go:build noui

// Package ui is the web application of the console, which this build leaves out.
package ui

import "io/fs"

// Files are the files of the application; nil if it is not part of the program.
func Files() fs.FS { return nil }
