// Package netns reaches into Linux network namespaces from one process: to run a function there, to dial, to
// listen. A socket belongs for ever to the namespace in which it was made, so only the making happens inside.
//
// A namespace is entered by one operating-system thread. Every call here uses a goroutine of its own, locked to
// its thread while it is away; a thread that can't get back home ends with its goroutine and is never used
// again. So no other goroutine ever finds itself in a foreign namespace.
//
//	island := netns.Open("/run/kogge/dev/netns") // nothing is opened yet: the file may appear later
//	listener, err := island.Listen(ctx, "tcp", "172.31.0.1:6443")
//	connection, err := island.DialContext(ctx, "tcp", "172.31.0.2:10250")
//	err = island.Do(func() error { return configureLinks() })
package netns
