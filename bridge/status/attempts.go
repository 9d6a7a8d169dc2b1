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
	// maxWrongInAll is how many all addresses together may: beyond it one that has been
	// wrong in this window has to wait for its end.
	maxWrongInAll = 100
	// maxAddresses bounds how many addresses are remembered. Beyond it a new one has to wait.
	maxAddresses = 10_000
)

// attempts counts wrong tokens by the address that they come from. An address that has
// presented none is always heard, whatever others do. It is safe for concurrent use.
type attempts struct {
	mu    sync.Mutex
	until time.Time // of the window
	all   int
	wrong map[string]int // by address
}

// wait returns how long an address has to wait before a token of its is looked at; 0:
// not at all.
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

// count takes in a wrong token and reports whether the address has to wait from now on.
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

// source is the address of a client without its port: of IPv6 the network that one
// host has to itself.
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
