package webhook

import (
	"container/list"
	"context"
	"log/slog"
	"net"
	"net/http"
	"sync"
)

// maxClients bounds the connections of the public listener.
const maxClients = 1024

// clients bounds the connections. Beyond the bound it closes one for the newest: the oldest
// without a verified delivery, else the one with the oldest last delivery. It never closes one
// that is delivering. It is safe for concurrent use.
type clients struct {
	max int
	// onClose is called for each connection closed for another one.
	onClose func(net.Conn)

	mu  sync.Mutex
	all map[net.Conn]*client
	// unproven and proven hold *client, with the next one to close at the front.
	unproven, proven list.List
}

type client struct {
	conn   net.Conn
	proven bool
	place  *list.Element // in one of the lists; nil during a verified delivery
}

// connKey is the key of a request's connection in its context.
type connKey struct{}

// bind makes a server report its connections.
func (c *clients) bind(srv *http.Server) {
	srv.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
		return context.WithValue(ctx, connKey{}, conn)
	}
	srv.ConnState = func(conn net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			c.add(conn)
		case http.StateClosed, http.StateHijacked:
			c.remove(conn)
		}
	}
}

func (c *clients) add(conn net.Conn) {
	c.mu.Lock()
	if c.all == nil {
		c.all = map[net.Conn]*client{}
	}
	n := &client{conn: conn}
	n.place = c.unproven.PushBack(n)
	c.all[conn] = n
	var victim net.Conn
	if len(c.all) > c.max {
		victim = c.drop(c.victim(n))
	}
	c.mu.Unlock()
	if victim != nil {
		c.onClose(victim)
		victim.Close() //nolint:errcheck // its reader gets the error
	}
}

// victim selects the connection to close for the newest client. The caller holds c.mu.
func (c *clients) victim(newest *client) *client {
	if oldest := c.unproven.Front().Value.(*client); oldest != newest {
		return oldest
	}
	if idle := c.proven.Front(); idle != nil {
		return idle.Value.(*client)
	}
	return newest
}

// leave removes a client from its list. The caller holds c.mu.
func (c *clients) leave(n *client) {
	switch {
	case n.place == nil:
	case n.proven:
		c.proven.Remove(n.place)
	default:
		c.unproven.Remove(n.place)
	}
	n.place = nil
}

// drop removes a client. The caller holds c.mu.
func (c *clients) drop(n *client) net.Conn {
	c.leave(n)
	delete(c.all, n.conn)
	return n.conn
}

func (c *clients) remove(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := c.all[conn]; n != nil {
		c.drop(n)
	}
}

// trust protects the connection of a verified delivery from being closed until done is called.
func (c *clients) trust(ctx context.Context) (done func()) {
	conn, _ := ctx.Value(connKey{}).(net.Conn)
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.all[conn]
	if n == nil || n.place == nil {
		return func() {}
	}
	c.leave(n)
	n.proven = true
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.all[conn] == n {
			n.place = c.proven.PushBack(n)
		}
	}
}

// reportClosed logs a connection that was closed for another one.
func (in *Intake) reportClosed(conn net.Conn) {
	in.o.Metrics.count("other", overloaded)
	in.unauthenticated.log("connections", func(more ...slog.Attr) {
		in.o.Logger.LogAttrs(context.Background(), slog.LevelWarn, "too many connections: the oldest that has proven nothing is closed",
			append(more, slog.Int("most", maxClients), slog.String("remote", conn.RemoteAddr().String()))...)
	})
}
