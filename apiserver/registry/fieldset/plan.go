package fieldset

import "reflect"

// shape is how the fields in a value are owned.
type shape uint8

// The shapes of values. The zero one is nothing that a plan knows.
const (
	unknown   shape = iota
	leaf            // as one
	structure       // each by itself, of a struct
	mapping         // each by itself, of a map
	set             // each item, by its value
	keyed           // each item, by the values of its keys
)

// plan is what is known of the values of one Go type under one type of a schema.
type plan struct {
	shape   shape
	pointer bool      // the values are pointers to what the shape is of
	sound   soundness // nil: all values are
	members []member  // of a structure
	item    *plan     // of a mapping or a list
	keys    []key     // of a keyed list, in the order of their names
}

// plainLeaf tells whether all values are leaves that can be written.
func (p *plan) plainLeaf() bool { return p.shape == leaf && p.sound == nil }

// soundness says whether a value can be written as JSON. What can't, the library is to see.
type soundness func(reflect.Value) bool

// member is a field of a structure.
type member struct {
	name
	plan *plan
	head string // begins its element: "f:x":{
	// shown: a zero value of it is written, so that in a new object the field itself is nothing new.
	shown bool
	// dropped: it is walked, since the library looks at it too, but nobody owns it.
	dropped bool
}
