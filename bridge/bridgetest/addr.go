package bridgetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"syscall"
)

// FreeAddr is a loopback address that a bridge can listen on, and on again
// after a restart: its port is none of those that systems give to outgoing
// connections meanwhile (Linux from 32768, others from 49152 on). It is asked
// for by connecting: a listener that was closed stays, for a moment, in a
// process that is started meanwhile.
func FreeAddr() (string, error) {
	for range 100 {
		addr := fmt.Sprintf("127.0.0.1:%d", 20000+rand.N(12000))
		c, err := net.Dial("tcp", addr)
		if errors.Is(err, syscall.ECONNREFUSED) {
			return addr, nil
		}
		if err == nil {
			c.Close() //nolint:errcheck // nothing was written
		}
	}
	return "", errors.New("find a free port")
}
