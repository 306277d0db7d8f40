// Package pullproxy lets container runtimes that have no way to the outside pull images: an HTTP proxy that opens
// tunnels (CONNECT) from where it runs, and nothing else.
//
// Only who knows the token may use it, and that is the runtimes: for pods it is no way out. Where the machine itself
// is behind a proxy (HTTPS_PROXY, NO_PROXY), tunnels go through that one.
//
//	proxy := pullproxy.New(pullproxy.Options{Token: token, Logger: logger})
//	err := http.Serve(listener, proxy)
//	// in the runtime's environment: HTTPS_PROXY=http://pull:TOKEN@172.31.0.1:3128
package pullproxy
