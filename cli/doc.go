// Package cli is the command line of kogge. Its first half is for users, in the manner of kind: create, delete,
// get, load, export. The other half are the components: each as a process of its own, with flags that bear the
// names of upstream's, or together (`kogge server`). Every command is one file; none decides anything itself.
//
//	os.Exit(cli.Main(os.Args[1:], os.Stdout, os.Stderr))
package cli
