package bridgetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync/atomic"
	"syscall"
)

// The ports that are given out, each again only after all the others: somebody
// may want it back, who has stopped listening for a while.
const firstPort, morePorts = 20000, 12000

var ports atomic.Uint32

func init() { ports.Store(rand.Uint32N(morePorts)) } // other processes begin elsewhere

// FreeAddr is a loopback address that a bridge can listen on, and on again
// after a restart: its port is none of those that systems give to outgoing
// connections meanwhile (Linux from 32768, others from 49152 on). It is asked
// for by connecting: a listener that was closed stays, for a moment, in a
// process that is started meanwhile.
func FreeAddr() (string, error) {
	for range 100 {
		addr := fmt.Sprintf("127.0.0.1:%d", firstPort+ports.Add(1)%morePorts)
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
