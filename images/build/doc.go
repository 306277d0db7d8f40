// Build writes the image archives of package images into a directory, one file an image, and one
// with all of them that nodes begin with.
//
//	go run ./images/build -output bin/images -pause bin/pause -root bin/debian
package main
