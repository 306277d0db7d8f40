// Build writes the image archives of package images into a directory, one file an image.
//
//	go run ./images/build -output bin/images -pause bin/pause -root bin/debian
package main
