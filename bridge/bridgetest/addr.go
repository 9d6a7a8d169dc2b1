package bridgetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
)

// FreeAddr is a loopback address that a bridge can listen on, and on again
// after a restart: its port is none of those that systems give to outgoing
// connections meanwhile (Linux from 32768, others from 49152 on).
func FreeAddr() (string, error) {
	for range 100 {
		addr := fmt.Sprintf("127.0.0.1:%d", 20000+rand.N(12000))
		if l, err := net.Listen("tcp", addr); err == nil {
			return addr, l.Close()
		}
	}
	return "", errors.New("find a free port")
}
