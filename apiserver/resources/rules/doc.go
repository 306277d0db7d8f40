// Package rules holds the small judgements that the validation of many kinds is made of: a value out of a
// set, a number that may not be negative, a name of a form. All functions are pure and give the paths and
// texts of the API.
//
//	errs = append(errs, rules.OneOf(path.Child("type"), s.Type, "Limited", "Exempt")...)
//
// Next: apiserver/resources/core
package rules
