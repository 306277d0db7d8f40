// Package images builds container images as OCI archives, without a registry and without a container engine:
// from our own sources and from unpacked Debian packages. They stand in, under their public names, where no
// registry can be reached.
//
//	pause     what holds a pod's namespaces: a static program of ours
//	busybox   Debian's busybox with a link for each applet, and bash as /bin/sh
//	nginx     Debian's nginx on top of busybox's layer, logging to its standard output
//
// The same inputs give the same bytes: entries are sorted, owned by root and dated to the epoch, layers are
// plain tars. The archives can be read by `ctr images import` and by `kogge load image-archive`.
//
//	files := images.Files{Roots: []string{"bin/debian", "/"}}
//	image, err := images.Nginx(files)
//	err = images.WriteArchive("bin/images/nginx.tar", image)
package images
