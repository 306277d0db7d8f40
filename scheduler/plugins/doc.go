// Package plugins holds the scheduling rules, one file each, under upstream's names. Default
// lists them in upstream's order and with upstream's weights.
//
// Promises: what a rule refuses with is upstream's text, word for word: users search for
// it. Scores are upstream's to the number, so that the same cluster is filled in the same
// way.
//
//	profile := framework.NewProfile(plugins.Default(client)...)
//
// Next: kubelet/podworker.
package plugins
