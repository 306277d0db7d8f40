// Package volume holds the rules that volumes have in common: those of pods, the persistent ones, and what claims ask for.
// It judges and changes nothing; who owns the kinds decides when.
package volume
