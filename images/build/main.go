package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/kogge-dev/kogge/images"
)

func main() {
	output := flag.String("output", "bin/images", "directory to write the archives to")
	pause := flag.String("pause", "bin/pause", "the built pause program")
	root := flag.String("root", "bin/debian", "unpacked Debian packages; what they lack is taken from this machine")
	flag.Parse()
	if err := build(*output, *pause, images.Files{Roots: []string{*root, "/"}}); err != nil {
		fmt.Fprintln(os.Stderr, "images:", err)
		os.Exit(1)
	}
}

func build(output, pause string, files images.Files) error {
	if err := os.MkdirAll(output, 0o755); err != nil {
		return fmt.Errorf("make the output directory: %w", err)
	}
	var all []*images.Image
	for _, built := range []struct {
		name  string
		build func() (*images.Image, error)
	}{
		{"pause", func() (*images.Image, error) { return images.Pause(pause) }},
		{"busybox", func() (*images.Image, error) { return images.Busybox(files) }},
		{"nginx", func() (*images.Image, error) { return images.Nginx(files) }},
	} {
		image, err := built.build()
		if err != nil {
			return fmt.Errorf("%s: %w", built.name, err)
		}
		if err := images.WriteArchive(filepath.Join(output, built.name+".tar"), image); err != nil {
			return fmt.Errorf("%s: %w", built.name, err)
		}
		all = append(all, image)
	}
	// What every node begins with: one archive is imported faster than several, and shared layers once.
	if err := images.WriteArchive(filepath.Join(output, "node.tar"), all...); err != nil {
		return fmt.Errorf("node: %w", err)
	}
	return nil
}
