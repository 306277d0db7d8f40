// Package operator puts the example's operator together: what its main function would call.
package operator
