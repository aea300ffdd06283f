package admin

import "context"

// notReady is what operations answer whose part follows.
func notReady() error { return fault(503, "not_ready", "this part is being built") }

func (s *server) authState(context.Context, *struct{}) (*authStateOut, error) { return nil, notReady() }
func (s *server) authMe(context.Context, *struct{}) (*authMeOut, error)       { return nil, notReady() }
func (s *server) signIn(context.Context, *rawIn) (*signedIn, error)           { return nil, notReady() }
func (s *server) signOut(context.Context, *rawIn) (*signedOut, error)         { return nil, notReady() }
func (s *server) setUp(context.Context, *rawIn) (*signedIn, error)            { return nil, notReady() }
func (s *server) startOIDC(context.Context, *oidcStartIn) (*elsewhere, error) { return nil, notReady() }
func (s *server) finishOIDC(context.Context, *oidcCallbackIn) (*elsewhere, error) {
	return nil, notReady()
}
