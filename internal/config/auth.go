package config

// Auth says who may administer the gateway, and whose tokens callers may use
// instead of keys.
type Auth struct {
	// AdminTokens are secret references (env:NAME or file:PATH) to bearer
	// tokens for the admin API.
	AdminTokens []string `json:"adminTokens" secret:"true"`
	// TrustedIssuers sign JWTs that are accepted as callers.
	TrustedIssuers []TrustedIssuer `json:"trustedIssuers"`
	// OIDC is the sign-in of administrators; off while Issuer is empty.
	OIDC OIDC `json:"oidc"`
}

// TrustedIssuer is one issuer of JWTs, such as GitHub Actions or Kubernetes.
type TrustedIssuer struct {
	// Name becomes the caller's source label.
	Name     string `json:"name"`
	Issuer   string `json:"issuer"`
	Audience string `json:"audience"`
	// Require are claims and the values that they must have. Issuers that
	// sign for everybody need one: whoever has an account there chooses the
	// audience.
	Require map[string]string `json:"require,omitempty"`
	Claims  Claims            `json:"claims"`
}

// Claims says which claim of a token gives which part of the caller. An empty
// field is not mapped.
type Claims struct {
	User           string `json:"user,omitempty"`
	Groups         string `json:"groups,omitempty"`
	Agent          string `json:"agent,omitempty"`
	Workload       string `json:"workload,omitempty"`
	Namespace      string `json:"namespace,omitempty"`
	ServiceAccount string `json:"serviceAccount,omitempty"`
	// Labels maps a label of the caller to a claim.
	Labels map[string]string `json:"labels,omitempty"`
}

// OIDC is the sign-in of administrators.
type OIDC struct {
	Issuer   string `json:"issuer"`
	ClientID string `json:"clientId"`
	// ClientSecret is a secret reference.
	ClientSecret string `json:"clientSecret" secret:"true"`
	// RoleClaim is the claim that AdminValues and ViewerValues are looked
	// for in; default groups.
	RoleClaim    string   `json:"roleClaim"`
	AdminValues  []string `json:"adminValues"`
	ViewerValues []string `json:"viewerValues"`
}
