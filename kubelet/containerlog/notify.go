package containerlog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// notifier tells when something happens in a folder. It has one inotify instance, opened with the first watch and
// closed with the last.
type notifier struct {
	mu   sync.Mutex
	file *os.File
	// fd is the file's: asking the file for it would make its reads block a thread.
	fd      int
	watches map[int32]*folder
	byPath  map[string]*folder
}

// folder is a watched folder and those who wait for it.
type folder struct {
	path    string
	watch   int32
	waiters map[chan struct{}]struct{}
}

func newNotifier() *notifier {
	return &notifier{watches: map[int32]*folder{}, byPath: map[string]*folder{}}
}

// events that say that a log grew or was rotated.
const events = unix.IN_MODIFY | unix.IN_CREATE | unix.IN_MOVED_TO | unix.IN_MOVED_FROM | unix.IN_DELETE

// watch returns a channel that gets a token when something happened in the folder since the last token.
func (n *notifier) watch(path string) (<-chan struct{}, func(), error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.file == nil {
		if err := n.open(); err != nil {
			return nil, nil, err
		}
	}
	f := n.byPath[path]
	if f == nil {
		watch, err := unix.InotifyAddWatch(n.fd, path, events)
		if err != nil {
			return nil, nil, errors.Join(fmt.Errorf("watch %s: %w", path, err), n.closeUnused())
		}
		f = &folder{path: path, watch: int32(watch), waiters: map[chan struct{}]struct{}{}}
		n.watches[f.watch], n.byPath[path] = f, f
	}
	waiter := make(chan struct{}, 1)
	f.waiters[waiter] = struct{}{}
	return waiter, func() { n.leave(f, waiter) }, nil
}

func (n *notifier) open() error {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return fmt.Errorf("watch logs: %w", err)
	}
	n.file, n.fd = os.NewFile(uintptr(fd), "inotify"), fd
	go n.read(n.file)
	return nil
}

func (n *notifier) leave(f *folder, waiter chan struct{}) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(f.waiters, waiter)
	if len(f.waiters) > 0 {
		return
	}
	delete(n.byPath, f.path)
	if n.watches[f.watch] == f && n.file != nil {
		delete(n.watches, f.watch)
		// The kernel has dropped the watch already if the folder is gone.
		_, _ = unix.InotifyRmWatch(n.fd, uint32(f.watch))
	}
	_ = n.closeUnused() // closing ends the reader; there is nothing to lose
}

func (n *notifier) closeUnused() error {
	if len(n.watches) > 0 || n.file == nil {
		return nil
	}
	file := n.file
	n.file = nil
	return file.Close()
}

// read passes events on until the instance is closed.
func (n *notifier) read(file *os.File) {
	buffer := make([]byte, 64*(unix.SizeofInotifyEvent+unix.NAME_MAX+1))
	for {
		size, err := file.Read(buffer)
		if err != nil {
			return
		}
		n.mu.Lock()
		for offset := 0; offset+unix.SizeofInotifyEvent <= size; {
			watch := int32(binary.NativeEndian.Uint32(buffer[offset:]))
			mask := binary.NativeEndian.Uint32(buffer[offset+4:])
			offset += unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(buffer[offset+12:]))
			n.tell(watch, mask)
		}
		n.mu.Unlock()
	}
}

func (n *notifier) tell(watch int32, mask uint32) {
	f := n.watches[watch]
	if mask&unix.IN_Q_OVERFLOW != 0 {
		for _, each := range n.watches {
			each.wake()
		}
	}
	if f == nil {
		return
	}
	if mask&unix.IN_IGNORED != 0 {
		delete(n.watches, watch)
	}
	f.wake()
}

func (f *folder) wake() {
	for waiter := range f.waiters {
		select {
		case waiter <- struct{}{}:
		default:
		}
	}
}
