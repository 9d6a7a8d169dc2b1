package status

import (
	"net"
	"net/netip"
	"sync"
	"time"
)

// Bounds of wrong tokens in one window.
const (
	attemptWindow = time.Minute
	// maxWrong is how many wrong tokens one address may present.
	maxWrong = 10
	// maxWrongInAll is how many wrong tokens all addresses together may present. Beyond it, an
	// address with a wrong token in this window waits for the end of the window.
	maxWrongInAll = 100
	// maxAddresses bounds the recorded addresses. Beyond it, a new one has to wait.
	maxAddresses = 10_000
)

// attempts counts wrong tokens by address. An address without wrong tokens is always served,
// regardless of others. It is safe for concurrent use.
type attempts struct {
	mu    sync.Mutex
	until time.Time // of the window
	all   int
	wrong map[string]int // by address
}

// wait returns how long an address has to wait before its token is checked; 0: it need not.
func (a *attempts) wait(from string) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.turn()
	n, known := a.wrong[from]
	if n >= maxWrong || known && a.all >= maxWrongInAll || !known && len(a.wrong) >= maxAddresses {
		return time.Until(a.until)
	}
	return 0
}

// count records a wrong token and reports whether the address has to wait from now on.
func (a *attempts) count(from string) (last bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.turn()
	a.all++
	a.wrong[from]++
	return a.wrong[from] == maxWrong || a.all == maxWrongInAll
}

// turn begins a new window where the last one is over. It is called with a.mu held.
func (a *attempts) turn() {
	if now := time.Now(); !now.Before(a.until) {
		a.until, a.all, a.wrong = now.Add(attemptWindow), 0, map[string]int{}
	}
}

// source is the address of a client without its port. Of IPv6 it is the network that one host has
// to itself.
func source(remote string) string {
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		return remote
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	if addr = addr.Unmap().WithZone(""); addr.Is4() {
		return addr.String()
	}
	const network = 64
	prefix, err := addr.Prefix(network)
	if err != nil {
		return addr.String()
	}
	return prefix.String()
}
