// Package tidy holds tests of the repository as a whole: which package may import which, that every
// package says what it is, that what documents name exists. What can be checked is a test.
package tidy
