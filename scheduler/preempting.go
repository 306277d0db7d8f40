package scheduler

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// preempting is the pods for which others are being ended right now, and whether they were
// tried again meanwhile. It is safe for concurrent use.
type preempting struct {
	mu   sync.Mutex
	pods map[types.UID]bool
}

func newPreempting() *preempting { return &preempting{pods: map[types.UID]bool{}} }

func (p *preempting) begin(uid types.UID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pods[uid] = false
}

// ask says whether it is still going on, and remembers that somebody wanted to know.
func (p *preempting) ask(uid types.UID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, busy := p.pods[uid]
	if busy {
		p.pods[uid] = true
	}
	return busy
}

// end says whether somebody asked.
func (p *preempting) end(uid types.UID) (asked bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	asked = p.pods[uid]
	delete(p.pods, uid)
	return asked
}
