package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// minSecret is the least length in bytes of a secret with which planbridge checks or signs.
const minSecret = 16

// placeholders are example texts in place of a secret, in lower case, with letters and digits
// only.
var placeholders = map[string]bool{
	"changeme": true, "changemechangeme": true, "pleasechangeme": true, "changethis": true, "pleasechangethis": true, "replaceme": true,
	"replacethis": true, "secret": true, "secretsecret": true, "mysecret": true, "mywebhooksecret": true, "webhooksecret": true,
	"yoursecret": true, "yoursecrethere": true, "yourwebhooksecret": true, "supersecret": true, "topsecret": true, "notasecret": true,
	"password": true, "passwordpassword": true, "mypassword": true, "yourpassword": true, "token": true, "mytoken": true, "yourtoken": true,
	"admintoken": true, "key": true, "markerkey": true, "example": true, "examplesecret": true, "placeholder": true, "default": true,
	"admin": true, "test": true, "testtesttesttest": true, "planbridge": true, "1234567890123456": true, "0123456789abcdef": true,
	"githubwebhooksecret": true, "planbridgeadmintoken": true, "planbridgemarkerkey": true, "githubtoken": true, "planningwebsecret": true,
	"betawebhooksecret": true, "acmesecret": true,
}

// Weakness is a secret that is easy to guess, or that reveals another one.
type Weakness struct {
	Path   string // the key
	Reason string // never contains the value
}

// roleSecret is a secret with its purpose.
type roleSecret struct {
	path, role string // secrets of one role replace each other, as during a rotation
	secret     Secret
	chosen     bool // the operator chose it; a service's own secret counts as good
}

// Weaknesses lists weak webhook secrets, admin tokens and marker keys, in the file's order of
// sections. They are no faults yet: the next major version will refuse them.
func (c *Config) Weaknesses() []Weakness {
	var out []Weakness
	first := map[string]roleSecret{} // by value
	for _, s := range c.roleSecrets() {
		value := s.secret.Reveal()
		if value == "" {
			continue
		}
		if other, used := first[value]; used && other.role != s.role {
			out = append(out, Weakness{s.path, "it is the value of " + other.path + " too: each needs one of its own"})
			continue
		} else if !used {
			first[value] = s
		}
		if reason := weakness(value); s.chosen && reason != "" {
			out = append(out, Weakness{s.path, reason})
		}
	}
	return out
}

// roleSecrets lists all secrets.
func (c *Config) roleSecrets() []roleSecret {
	list := []roleSecret{{"server.admin_token", "admin token", c.Server.AdminToken, true}}
	webhook := func(path string, secrets []Secret) {
		for i, s := range secrets {
			list = append(list, roleSecret{fmt.Sprintf("%s[%d]", path, i), path, s, true})
		}
	}
	webhook("github.webhook_secrets", c.GitHub.WebhookSecrets)
	for i := range c.GitHub.Webhooks {
		webhook(fmt.Sprintf("github.webhooks[%d].secrets", i), c.GitHub.Webhooks[i].Secrets)
	}
	list = append(list, roleSecret{"github.token", "GitHub's token", c.GitHub.Token, false})
	for _, name := range slices.Sorted(maps.Keys(c.Planning.Projects)) {
		list = append(list, roleSecret{joinPath("planning.projects", name) + ".secret", "planning", c.Planning.Projects[name].Secret, false})
	}
	for i, key := range c.MarkerKeys {
		path := "marker_key"
		if len(c.MarkerKeys) > 1 {
			path = fmt.Sprintf("marker_key[%d]", i)
		}
		list = append(list, roleSecret{path, "marker key", key, true})
	}
	return list
}

// weakness returns why a value is easy to guess, or "".
func weakness(value string) string {
	plain := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(value))
	switch {
	case strings.Trim(value, value[:1]) == "":
		return "it is one character, repeated"
	case placeholders[plain]:
		return "it is a known placeholder"
	case len(value) < minSecret:
		return fmt.Sprintf("it is shorter than %d bytes", minSecret)
	case period(value) < minSecret:
		return fmt.Sprintf("it is %d bytes, repeated", period(value))
	}
	return ""
}

// period returns the length of the shortest part whose repetition gives the value, or the whole
// length. A value whose end only equals its beginning does not count.
func period(value string) int {
	for n := 1; 2*n <= len(value); n++ {
		if strings.HasPrefix(value, value[n:]) {
			return n
		}
	}
	return len(value)
}
