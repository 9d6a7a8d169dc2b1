package status

import (
	"context"
	"net/http"
	"net/netip"
	"strings"
)

// CommandUser is the header in which a command says whose it is.
const CommandUser = "Planbridge-User"

// Proxy says who is believed about who acts.
type Proxy struct {
	Header  string // that names the user; "": none does
	Trusted []netip.Prefix
}

// maxActor bounds the name of who acts, in bytes.
const maxActor = 100

type actorKey struct{}

// Actor is who asked for an act: what the history and the log name.
func Actor(ctx context.Context) string {
	if name, _ := ctx.Value(actorKey{}).(string); name != "" {
		return name
	}
	return "an operator"
}

// withActor notes who asks: as a trusted proxy says, as a command says, or the user by
// whose name a browser logged in. The latter two have shown the token, or are on this machine.
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

// WithActor is the context of what somebody asked for, as [Actor] tells it.
func WithActor(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, actorKey{}, name)
}

// user is who acts as a trusted proxy says; "": none does.
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

// plainName leaves of a name what can stand in a line.
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
