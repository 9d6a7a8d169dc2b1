package status

import (
	"context"
	"net/http"
	"net/netip"
	"strings"
)

// CommandUser is the header by which a command names its user.
const CommandUser = "Planbridge-User"

// Proxy says which proxies may name the acting user.
type Proxy struct {
	Header  string // that names the user; "": none does
	Trusted []netip.Prefix
}

// maxActor bounds the name of a user, in bytes.
const maxActor = 100

type actorKey struct{}

// Actor is the user who asked for an act. The history and the log name that user.
func Actor(ctx context.Context) string {
	if name, _ := ctx.Value(actorKey{}).(string); name != "" {
		return name
	}
	return "an operator"
}

// withActor records who asks: the user that a trusted proxy names, that a command names, or
// that a browser logged in as. The latter two have the token, or run on this machine.
func (h *handler) withActor(r *http.Request) *http.Request {
	name := h.Settings.Access().Proxy.user(r)
	if name == "" {
		name = r.Header.Get(CommandUser)
	}
	if name == "" {
		name, _, _ = r.BasicAuth()
	}
	return r.WithContext(WithActor(r.Context(), plainName(name)))
}

// WithActor returns a context with the user that [Actor] returns.
func WithActor(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, actorKey{}, name)
}

// user is the user that a trusted proxy names; "": none does.
func (p Proxy) user(r *http.Request) string {
	if p.Header == "" {
		return ""
	}
	remote, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return ""
	}
	for _, network := range p.Trusted {
		if network.Contains(remote.Addr().Unmap()) {
			return r.Header.Get(p.Header)
		}
	}
	return ""
}

// plainName removes from a name the characters that cannot stand in a line.
func plainName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, ""))
	if len(name) > maxActor {
		name = strings.ToValidUTF8(name[:maxActor], "")
	}
	return strings.TrimSpace(name)
}
