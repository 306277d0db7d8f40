// Package server is what a kubelet serves to the API server and to those who measure: logs of containers, commands
// in them, their streams and ports, the list of pods, and figures.
//
// It speaks HTTPS and answers nobody who doesn't show a certificate of the cluster's authority for the group
// system:masters, except for /healthz. Streams come in the forms that clients of today and yesterday speak: WebSocket with or without the
// closing of single streams (v5), SPDY, and SPDY inside WebSocket for ports. The runtime speaks SPDY and WebSocket
// up to v4; what it can't speak itself is translated here, everything else is passed through byte by byte.
//
//	s := server.New(server.Options{Host: kubelet, Runtime: runtime, Logs: logs, Logger: logger})
//	http.Handle("/", s.Handler())
//	err := s.Run(ctx, listener, certificate, clientCAs)
package server
