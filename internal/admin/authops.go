package admin

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

// Ways in which a caller is known.
const (
	ViaToken    = "token"
	ViaPassword = "password"
	ViaOIDC     = "oidc"
)

// authState is what a console has to know before anybody signs in.
type authState struct {
	// SetupRequired: there is no way to sign in yet. The link that the server
	// printed when it started makes the first administrator.
	SetupRequired bool `json:"setupRequired"`
	// PasswordSignIn: somebody can sign in with a password.
	PasswordSignIn bool      `json:"passwordSignIn"`
	OIDC           oidcState `json:"oidc"`
	// Version is the program's.
	Version string `json:"version"`
	// User is who calls; null for nobody.
	User *authMe `json:"user"`
}

// oidcState is the sign-in through an OpenID issuer.
type oidcState struct {
	Enabled bool `json:"enabled"`
	// Name is what to call the issuer: its host.
	Name string `json:"name"`
}

// authMe is who calls.
type authMe struct {
	// Name is the actor that the audit names: user:NAME or token:LAST4.
	Name string `json:"name"`
	// Role is gateway-admin or viewer.
	Role Role `json:"role" enum:"gateway-admin,viewer"`
	// Via is how the caller is known.
	Via string `json:"via" enum:"password,oidc,token"`
}

type (
	authStateOut struct{ Body authState }
	authMeOut    struct{ Body authMe }
	// signedIn is who signed in, with the cookie of the session.
	signedIn struct {
		SetCookie []string `header:"Set-Cookie"`
		Body      authMe
	}
	signedOut struct {
		SetCookie []string `header:"Set-Cookie"`
	}
	rawIn struct {
		RawBody []byte
	}
	oidcStartIn struct {
		ReturnTo string `query:"returnTo" maxLength:"2000" doc:"Where to go afterwards: a path below /console."`
	}
	oidcCallbackIn struct {
		Code   string `query:"code" maxLength:"8192"`
		State  string `query:"state" maxLength:"1024"`
		Error  string `query:"error" maxLength:"1024"`
		Issuer string `query:"iss" maxLength:"2000"`
	}
	// elsewhere sends a browser to another page.
	elsewhere struct {
		Status    int
		Location  string   `header:"Location"`
		SetCookie []string `header:"Set-Cookie"`
	}
)

// registerAuth declares how people sign in to the console.
func (s *server) registerAuth() {
	tags := []string{"Session"}
	me := schemaOf[authMe](s)
	state := schemaOf[authState](s)
	s.registry().SchemaFromRef(state.Ref).Properties["user"] = &huma.Schema{OneOf: []*huma.Schema{me, {Type: "null"}}}

	register(s, operation{
		Operation: huma.Operation{
			OperationID: "getAuthState", Method: http.MethodGet, Path: "/auth/state", Tags: tags, Summary: "Show how to sign in, and who is signed in",
			Description: "For everybody; 200 for who is not signed in, too.",
		},
		public:  true,
		answers: map[int]map[string]*huma.MediaType{http.StatusOK: jsonBody(state)},
	}, s.authState)
	register(s, operation{
		Operation: huma.Operation{OperationID: "getAuthMe", Method: http.MethodGet, Path: "/auth/me", Tags: tags, Summary: "Show who calls, and how they are known"},
		role:      RoleViewer,
		answers:   map[int]map[string]*huma.MediaType{http.StatusOK: jsonBody(me)},
	}, s.authMe)
	register(s, operation{
		Operation: huma.Operation{
			OperationID: "signIn", Method: http.MethodPost, Path: "/auth/sign-in", Tags: tags, DefaultStatus: http.StatusOK, Summary: "Sign in with a password",
			Description: "Answers with a cookie of a new session. 401 wrong_credentials whatever is wrong; 403 no_role for a user without a role; 429 after too many failures, with Retry-After.",
		},
		public: true, body: texts("name", "password"), errors: []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests},
		answers: map[int]map[string]*huma.MediaType{http.StatusOK: jsonBody(me)},
	}, s.signIn)
	register(s, operation{
		Operation: huma.Operation{
			OperationID: "signOut", Method: http.MethodPost, Path: "/auth/sign-out", Tags: tags, DefaultStatus: http.StatusNoContent, Summary: "Sign out",
			Description: "Ends the session at the server; without one it does nothing. The body may be empty.",
		},
		public: true, body: texts(), optionalBody: true, errors: []int{http.StatusForbidden},
		answers: map[int]map[string]*huma.MediaType{http.StatusNoContent: nil},
	}, s.signOut)
	register(s, operation{
		Operation: huma.Operation{
			OperationID: "setUp", Method: http.MethodPost, Path: "/auth/setup", Tags: tags, DefaultStatus: http.StatusOK, Summary: "Make the first administrator and sign in",
			Description: "With the token of the link that the server printed when it started. 409 already_set_up once there is an administrator; 401 wrong_token for another token, or one that is used or an hour old.",
		},
		public: true, body: texts("token", "name", "password"), errors: []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusConflict, http.StatusTooManyRequests},
		answers: map[int]map[string]*huma.MediaType{http.StatusOK: jsonBody(me)},
	}, s.setUp)
	register(s, operation{
		Operation: huma.Operation{
			OperationID: "startOIDC", Method: http.MethodGet, Path: "/auth/oidc/start", Tags: tags, DefaultStatus: http.StatusFound, Summary: "Sign in through the OpenID issuer",
			Description: "A page for browsers, not for programs: leads to the issuer of auth.oidc, and what goes wrong to /console/sign-in?error=…",
		},
		public: true, answers: map[int]map[string]*huma.MediaType{http.StatusFound: nil},
	}, s.startOIDC)
	register(s, operation{
		Operation: huma.Operation{
			OperationID: "finishOIDC", Method: http.MethodGet, Path: "/auth/oidc/callback", Tags: tags, DefaultStatus: http.StatusFound, Summary: "Come back from the OpenID issuer",
			Description: "The redirect URI to register at the issuer. Leads to the page that was asked for, or to /console/sign-in?error=… with no_role, oidc_failed, oidc_unavailable, oidc_expired, oidc_off or failed.",
		},
		public: true, lenient: true, answers: map[int]map[string]*huma.MediaType{http.StatusFound: nil},
	}, s.finishOIDC)
}

// texts describes a body of texts, all of them required.
func texts(names ...string) *huma.Schema {
	body := &huma.Schema{Type: huma.TypeObject, AdditionalProperties: false, Required: names, Properties: map[string]*huma.Schema{}}
	for _, name := range names {
		body.Properties[name] = &huma.Schema{Type: huma.TypeString}
		if name == "password" {
			body.Properties[name].Format = "password"
		}
	}
	return body
}
