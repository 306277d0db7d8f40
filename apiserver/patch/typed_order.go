package patch

// element is an item of a merged list.
type element struct {
	key    elementKey
	before int            // where it is in the list before, or isNew
	change map[string]any // what the change says of it; nil: nothing
}

// longest is how many elements a list may have: every one is looked for among all.
const longest = 1000

// isNew is the place of an element that the list before doesn't have.
const isNew = -1

// elementKey is the value of an item's merge key: a text or a number.
type elementKey struct {
	text   string
	number int64
}

// listEdit is what a change says of a list: the items that it adds or changes, and those that it deletes.
type listEdit struct{ items, deleted []element }

// merged are the elements of a list after the edit, in the order that the change tells, or, if it tells none, in that of its items.
func (e listEdit) merged(before, order []element) []element {
	left := before
	for _, d := range e.deleted {
		if at := find(left, d.key); at >= 0 {
			left = append(left[:at], left[at+1:]...)
		}
	}
	merged := left
	for _, item := range e.items {
		if at := find(merged, item.key); at >= 0 {
			merged[at].change = item.change
		} else {
			merged = append(merged, item) // in before it takes the room of what was deleted: trees look the order up in such a list too
		}
	}
	if order == nil {
		return arrange(merged, e.items, left)
	}
	return arrange(merged, order, before)
}

// arrange brings the elements that are in an order into it. The rest keeps its own, and stays where it was before among those as far as that is clear.
func arrange(elements, order, before []element) []element {
	ordered, rest := make([]element, 0, len(elements)), make([]element, 0, len(elements))
	for _, o := range order {
		if at := find(elements, o.key); at >= 0 {
			ordered = append(ordered, elements[at])
		}
	}
	for _, e := range elements {
		if find(order, e.key) < 0 {
			rest = append(rest, e)
		}
	}
	return interleave(rest, ordered, before)
}

// interleave merges two lists without changing the order of either: an element of the rest comes before one that came after it.
func interleave(rest, ordered, before []element) []element {
	all := make([]element, 0, len(rest)+len(ordered))
	for len(rest) > 0 && len(ordered) > 0 {
		if at := find(before, rest[0].key); at >= 0 && at < find(before, ordered[0].key) {
			all, rest = append(all, rest[0]), rest[1:]
		} else {
			all, ordered = append(all, ordered[0]), ordered[1:]
		}
	}
	return append(append(all, rest...), ordered...)
}

// follow says whether all elements are in the order, and in that order.
func follow(elements, order []element) bool {
	for _, o := range order {
		if len(elements) > 0 && elements[0].key == o.key {
			elements = elements[1:]
		}
	}
	return len(elements) == 0
}

// find gives where the element with a key is, or -1.
func find(elements []element, key elementKey) int {
	for i := range elements {
		if elements[i].key == key {
			return i
		}
	}
	return -1
}
