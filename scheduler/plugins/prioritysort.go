package plugins

// prioritySort is the order of the queue: by priority, then by age. The queue knows no
// other, so all there is of it here is its name.
type prioritySort struct{}

func (prioritySort) Name() string { return "PrioritySort" }

// SortsQueue is framework.QueueSort.
func (prioritySort) SortsQueue() {}
