package bridgetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync/atomic"
	"syscall"
)

// The range of the given ports. A port is given again only after all the others, as its user may
// listen on it again after a pause.
const firstPort, morePorts = 20000, 12000

var ports atomic.Uint32

func init() { ports.Store(rand.Uint32N(morePorts)) } // other processes begin elsewhere

// FreeAddr is a loopback address that a bridge can listen on, also again after a restart. Systems
// give its port to no outgoing connection meanwhile (they use those from 32768 on Linux, from 49152
// on others). It is tested by connecting, as a closed listener stays for a moment in a process that
// is started meanwhile.
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
