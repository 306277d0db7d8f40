package fieldset

// merge writes the elements of a set less what is another now or gone, or, if that is owned, with what is another now.
func (w *writer) merge(set, now, gone elements, own bool) {
	for len(set) > 0 || own && len(now) > 0 {
		name := least(set, now, gone)
		var s, n, g elements
		s, set = set.take(name)
		n, now = now.take(name)
		g, gone = gone.take(name)
		switch {
		case len(s) > 0 && len(n) == 0 && len(g) == 0:
			w.copied(&s[0])
		case len(s) > 0:
			w.merged(s, n, g, own)
		case len(n) > 0 && own:
			w.copied(&n[0])
		}
	}
}

// merged writes an element of a set that is not only in the set.
func (w *writer) merged(set, now, gone elements, own bool) {
	changed, removed := len(now) > 0 && now[0].self, len(gone) > 0 && gone[0].self
	at := w.open(string(set[0].text[:set[0].head]))
	self := changed && own || set[0].self && !changed && !removed
	begin := len(w.buf)
	if self {
		w.buf = append(w.buf, itself...)
	}
	first := len(w.buf)
	w.merge(set.inside(), now.inside(), gone.inside(), own)
	inside := len(w.buf) > first
	if !inside {
		w.buf = w.buf[:begin]
	}
	w.end(at, self || inside)
}

func (w *writer) copied(e *element) {
	w.comma()
	w.buf = append(w.buf, e.text...)
}

// least is the name of the element that comes first.
func least(sets ...elements) (name []byte) {
	for _, s := range sets {
		if len(s) > 0 && (name == nil || order(s[0].name(), name) < 0) {
			name = s[0].name()
		}
	}
	return name
}
