package serve

import (
	"net"
	"os"
)

// notifySocket is the variable by which a service manager names the socket that takes messages of sd_notify(3).
const notifySocket = "NOTIFY_SOCKET"

// notifyReady tells the service manager, if one wants to know, that this process serves.
func notifyReady() error {
	name := os.Getenv(notifySocket)
	if name == "" {
		return nil
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: name, Net: "unixgram"}) // "@" begins an abstract name, there as here
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	_, err = conn.Write([]byte("READY=1"))
	return err
}
