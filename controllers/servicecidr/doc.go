// Package servicecidr looks after the ranges that Services get their addresses from: it says that a ServiceCIDR is
// ready, and holds one that is being deleted for as long as an address would be left without a range.
//
// Promises: a range goes only when each of its addresses is in another one, and not before all API servers know that
// nothing may be taken from it any more.
//
//	decision := servicecidr.Decide(cidr, all, addresses, now)
//
// Next: controllers/endpoints.
package servicecidr
