// Package firststart decides what a server without a configuration begins
// with: a provider for each vendor whose key is in the environment. It only
// reads; what it finds is made by whoever asked, through control.
//
// A provider gets a reference to the variable, never a copy of its value.
package firststart
