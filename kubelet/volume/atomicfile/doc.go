// Package atomicfile writes a set of files into a folder so that readers see either all old or all new ones.
//
// The files lie in a folder named by the time, ..data links to that folder, and each name in the volume links
// through ..data. A new set is written beside the old one; renaming ..data switches all files at once. It is the
// layout that programs which watch ConfigMaps rely on.
//
//	changed, err := atomicfile.Write(folder, files, now, func(written string) error { return chown(written) })
package atomicfile
