package guarantees

// Object is what is recorded of an object: where it is, which incarnation, and who wrote it last.
type Object struct {
	Name    string
	UID     string
	Version int64
	// Write is the number of the write that made this state; unique in a history.
	Write int64
}

// Color is the label by which watches select: it follows from the number of the write, so that objects come and go for them.
func (o Object) Color() string { return Color(o.Write) }

// Color of the objects of a write.
func Color(write int64) string {
	if write%2 == 0 {
		return "red"
	}
	return "blue"
}

// Filter is what a list or a watch selects. Empty: all.
type Filter struct{ Name, Color string }

// Matches says whether an object is selected.
func (f Filter) Matches(o Object) bool {
	return (f.Name == "" || f.Name == o.Name) && (f.Color == "" || f.Color == o.Color())
}

// Outcome of a write.
type Outcome int

// Acknowledged: it happened. Refused: it did not. Unknown: the answer did not come, it may have happened.
const (
	Unknown Outcome = iota
	Acknowledged
	Refused
)

// Write is one request that changes an object. Start and End are readings of one counter, so that they tell which of two requests
// was over before the other began.
type Write struct {
	Kind string
	// Delete: the incarnation of Object is to go. Otherwise Object is what was sent, with the version of the answer.
	Delete     bool
	Object     Object
	Outcome    Outcome
	Start, End int64
}

// Read is one list, or a get when Get is set, and what it gave. Reads without an answer aren't recorded.
type Read struct {
	Kind   string
	Filter Filter
	Get    bool
	Items  []Object
	// Version of the list; a get has none but its object's.
	Version    int64
	Start, End int64
}

// EventType is what a frame of a watch tells.
type EventType string

// The types of frames.
const (
	Added    EventType = "ADDED"
	Modified EventType = "MODIFIED"
	Deleted  EventType = "DELETED"
	Bookmark EventType = "BOOKMARK"
)

// Event is one frame. A bookmark has nothing but the version.
type Event struct {
	Type   EventType
	Object Object
	// InitialEnd: the initial objects are over.
	InitialEnd bool
}

// Watch is one request that watches, with all frames that came.
type Watch struct {
	Kind   string
	Filter Filter
	// From is the version after which changes are asked for. Initial: objects are asked for first, whose version the bookmark after
	// them tells.
	From    int64
	Initial bool
	Events  []Event
}

// Watcher is one client's watches, each of which goes on where the one before broke off.
type Watcher []Watch

// History is all that was recorded.
type History struct {
	Writes   []Write
	Reads    []Read
	Watchers []Watcher
}
