package connect

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// An address file is read once while the connection lasts, seldom while there is none, and soon after one is lost.
func TestAddressFileIsReadSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reads, told := 0, 0
		f := &AddressFile{
			Read: func() (string, error) {
				reads++
				if reads == 1 {
					return "", errors.New("none")
				}
				return fmt.Sprintf("host:%d", reads), nil
			},
			After: func() { told++ },
		}
		// dial dials at intervals, as gRPC does while there is no connection, and returns how often the file was read.
		dial := func(every, during time.Duration) int {
			before := reads
			for began := time.Now(); time.Since(began) < during; time.Sleep(every) {
				_, _ = f.current()
			}
			return reads - before
		}
		if _, err := f.current(); err == nil {
			t.Error("there is an address, and the file had none")
		}
		if n := dial(50*time.Millisecond, time.Second); n != 0 {
			t.Errorf("read %d times more within a second", n)
		}
		if address, err := f.current(); err != nil || address != "host:2" {
			t.Errorf("after a second: %q, %v", address, err)
		}
		// 2, 4 and 8 s later, and then every 16 s.
		if n := dial(time.Second, 15*time.Minute); n < 50 || n > 60 {
			t.Errorf("read %d times within 15 minutes without a coordinator", n)
		}
		time.Sleep(time.Hour) // it is connected, and dials nothing
		if n := dial(time.Second, 500*time.Millisecond); n != 1 {
			t.Errorf("after the loss of a connection: read %d times", n)
		}
		if n := dial(100*time.Millisecond, 3*time.Second); n < 1 || n > 3 {
			t.Errorf("within 3 s of the loss of a connection: read %d times", n)
		}
		if told != reads {
			t.Errorf("read %d times, told %d times", reads, told)
		}
	})
}

// Who is told that a coordinator does not answer can start one only on this machine.
func TestAbsentCoordinator(t *testing.T) {
	for address, want := range map[string]string{
		"127.0.0.1:7410":     "start one with `foible coordinator`,",
		"127.0.0.2:7500":     "start one with `foible coordinator --listen 127.0.0.2:7500`,",
		"localhost:7500":     "start one with `foible coordinator --listen localhost:7500`,",
		"far.example.org:75": "see that one runs on far.example.org, as `foible coordinator --listen :75` does there,",
		"192.0.2.7:7410":     "see that one runs on 192.0.2.7, as `foible coordinator --listen :7410` does there,",
	} {
		if got := (Target{Address: address}).absent().Error(); !strings.Contains(got, want) {
			t.Errorf("%s: %s", address, got)
		}
	}
}
