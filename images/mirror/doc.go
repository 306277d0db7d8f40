// Package mirror serves image archives as a registry would, read-only: what a pod names is found under its own name,
// pull policy Always works without any network, and what is not here is left to the next registry.
//
// It speaks the part of the OCI distribution specification that pulling takes. The container runtime says in the
// query parameter "ns" which registry the name belongs to. Archives are tars of OCI image layouts; they are read in
// place, nothing is unpacked, and a changed directory is noticed at the next request for a tag.
//
//	m := mirror.New("bin/images", logger)
//	err := http.Serve(listener, m)
package mirror
