package engine

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go/jetstream"
)

// storeVersion is that of what this package stores, and how: of streams, subjects, keys, and of the messages in them
// that all versions of Foible must be able to read. A change that an older program would misread makes it one more. A
// store without a version was written before there were any, in the layout of version 1.
const storeVersion = 1

// checkVersion refuses a store of another version, and marks a new one.
func checkVersion(ctx context.Context, store jetstream.KeyValue) error {
	const key = "version"
	for {
		entry, err := store.Get(ctx, key)
		if errors.Is(err, jetstream.ErrKeyNotFound) {
			if _, err = store.Create(ctx, key, []byte(strconv.Itoa(storeVersion))); errors.Is(err, jetstream.ErrKeyExists) {
				continue // another coordinator has just done so
			}
			return err
		}
		if err != nil {
			return err
		}
		switch version, err := strconv.Atoi(string(entry.Value())); {
		case err != nil || version < 1:
			return fmt.Errorf("%w: it says %q, which no version of Foible is known to write", ErrVersion, entry.Value())
		case version > storeVersion:
			return fmt.Errorf("%w: it was written by a newer Foible, whose store has version %d; this one reads version %d", ErrVersion, version, storeVersion)
		}
		return nil
	}
}
