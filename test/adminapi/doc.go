// Package adminapi tests the admin API over a whole server with fake providers
// behind it: what the API says about requests must be what happens to them.
package adminapi
