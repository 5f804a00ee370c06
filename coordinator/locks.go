package coordinator

import "sync"

// locks are mutexes by name. Who waits for one does not hinder those that want another one. The zero value has none locked.
type locks struct {
	mu    sync.Mutex // guards what follows
	names map[string]*namedLock
}

// namedLock is there as long as it is held or waited for. It is a channel, and not a mutex, because fake time in tests does
// not go on while a goroutine waits for a mutex.
type namedLock struct {
	token chan struct{} // taken by who holds the lock
	users int           // who hold it or wait for it
}

// lock waits for the lock of a name. The function returned unlocks it.
func (l *locks) lock(name string) (unlock func()) {
	l.mu.Lock()
	n := l.names[name]
	if n == nil {
		if l.names == nil {
			l.names = map[string]*namedLock{}
		}
		n = &namedLock{token: make(chan struct{}, 1)}
		n.token <- struct{}{}
		l.names[name] = n
	}
	n.users++
	l.mu.Unlock()
	<-n.token
	return func() {
		n.token <- struct{}{}
		l.mu.Lock()
		defer l.mu.Unlock()
		if n.users--; n.users == 0 {
			delete(l.names, name)
		}
	}
}

// used says whether the lock of a name is held or waited for.
func (l *locks) used(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.names[name] != nil
}
