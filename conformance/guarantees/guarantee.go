package guarantees

// Guarantee is one of what is promised: a function that tells what in a history breaks it.
type Guarantee struct {
	Name  string
	Check func(*History, *Truth) []string
}

// All are the guarantees, by name.
func All() []Guarantee {
	return []Guarantee{
		{"durable", Durable}, {"explained", Explained}, {"real time", RealTime},
		{"fresh", Fresh}, {"consistent", Consistent}, {"monotonic", Monotonic},
		{"filter", Filtered}, {"ordered", Ordered}, {"unique", Unique}, {"atomic", Atomic},
		{"bookmarked", Bookmarked}, {"resumable", Resumable}, {"reliable", Reliable},
	}
}
