package images

import (
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Files finds the files that images are made of.
type Files struct {
	// Roots are directories that look like a root file system each, the most wanted first: unpacked packages,
	// then the machine itself.
	Roots []string
}

// libraryDirectories is where Debian's dynamic linker looks, in its order.
var libraryDirectories = []string{
	"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu",
	"/lib/aarch64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
	"/lib", "/usr/lib",
}

// Read returns the content of the first of these paths that any root has.
func (f Files) Read(paths ...string) ([]byte, error) {
	name, err := f.find(paths...)
	if err != nil {
		return nil, err
	}
	return os.ReadFile(name)
}

func (f Files) find(paths ...string) (string, error) {
	for _, root := range f.Roots {
		for _, candidate := range paths {
			name := filepath.Join(root, candidate)
			info, err := os.Stat(name)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return "", fmt.Errorf("look for a file of an image: %w", err)
			}
			if info.Mode().IsRegular() {
				return name, nil
			}
		}
	}
	return "", fmt.Errorf("none of %v found below %v: %w", paths, f.Roots, fs.ErrNotExist)
}

// AddProgram puts a program into the layer at name, with the dynamic linker and all the shared libraries that
// it names, and those that they name.
func (f Files) AddProgram(layer *Layer, name string, sources ...string) error {
	source, err := f.find(append(sources, name)...)
	if err != nil {
		return err
	}
	content, err := os.ReadFile(source)
	if err != nil {
		return fmt.Errorf("read program: %w", err)
	}
	layer.File(name, 0o755, content)
	return f.addLibraries(layer, source)
}

func (f Files) addLibraries(layer *Layer, program string) error {
	interpreter, libraries, err := dependencies(program)
	if err != nil {
		return fmt.Errorf("%s: %w", program, err)
	}
	if interpreter != "" && !layer.Has(interpreter) {
		content, err := f.Read(interpreter, filepath.Join("/usr", interpreter))
		if err != nil {
			return fmt.Errorf("dynamic linker: %w", err)
		}
		layer.File(interpreter, 0o755, content)
	}
	for _, library := range libraries {
		// One directory, whichever the library came from: the dynamic linker looks there without any cache.
		name := filepath.Join("/usr/lib", library)
		if layer.Has(name) {
			continue
		}
		candidates := make([]string, 0, len(libraryDirectories))
		for _, directory := range libraryDirectories {
			candidates = append(candidates, filepath.Join(directory, library))
		}
		source, err := f.find(candidates...)
		if err != nil {
			return fmt.Errorf("library of %s: %w", program, err)
		}
		content, err := os.ReadFile(source)
		if err != nil {
			return fmt.Errorf("read library: %w", err)
		}
		layer.File(name, 0o755, content)
		if err := f.addLibraries(layer, source); err != nil {
			return err
		}
	}
	return nil
}

// dependencies reads from an ELF file which dynamic linker and which libraries it asks for; none, when it is
// linked statically.
func dependencies(program string) (interpreter string, libraries []string, err error) {
	file, err := elf.Open(program)
	if err != nil {
		return "", nil, fmt.Errorf("read as ELF: %w", err)
	}
	defer file.Close()
	for _, segment := range file.Progs {
		if segment.Type != elf.PT_INTERP {
			continue
		}
		content := make([]byte, segment.Filesz)
		if _, err := segment.ReadAt(content, 0); err != nil {
			return "", nil, fmt.Errorf("read the name of the dynamic linker: %w", err)
		}
		interpreter = string(content[:len(content)-1])
	}
	libraries, err = file.ImportedLibraries()
	if err != nil {
		return "", nil, fmt.Errorf("read the names of libraries: %w", err)
	}
	return interpreter, libraries, nil
}
