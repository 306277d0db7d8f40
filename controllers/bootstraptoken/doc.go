// Package bootstraptoken serves the tokens by which new nodes find a cluster: it signs the ConfigMap cluster-info with
// each of them, so that who knows a token can trust it, and removes tokens that have expired. Both are off unless asked
// for, as upstream.
//
// Promises: only tokens that are for signing sign; a signature goes with its token.
//
//	signed := bootstraptoken.Signed(configMap, tokens)
//
// Next: controllers/rootca.
package bootstraptoken
