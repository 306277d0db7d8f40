// Package image makes sure that a container's image is there before the container is made.
//
// A Puller applies the pull policy, pulls in the background, so that no pod's worker waits for a registry, spaces
// failed pulls (10 s doubling to 5 min), and says in events what it does, all in upstream's words. It remembers only
// pulls under way and failures; which images exist is the runtime's to know.
//
//	puller := image.New(image.Options{Images: images, Clock: clock, Record: record, Finished: pool.Trigger})
//	result := puller.Ensure(ctx, image.Request{Pod: pod, Container: container})
//	switch {
//	case result.Failure != nil: // why not, and when to ask again
//	case result.Pending:        // Finished will be called
//	default:                    // result.Ref
//	}
package image
