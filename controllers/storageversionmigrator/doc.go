// Package storageversionmigrator carries StorageVersionMigrations out: it has every object of
// a resource written once more, so that the store holds it in the present storage version.
//
// A migration goes through steps that its status tells: it runs (one at a time for each
// resource, the oldest first), it knows the version up to which objects are old, it has
// succeeded or failed, it no longer runs. Each step is one pass; a restart goes on with the
// next.
//
// Promises: an object that somebody else wrote meanwhile is left alone, since it is in the
// new version already; a CustomResourceDefinition's storedVersions are cut back only if it
// hasn't changed since the migration began.
//
//	step := storageversionmigrator.Next(migration, all)
//
// Next: apiserver/registry.
package storageversionmigrator
