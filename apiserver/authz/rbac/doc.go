// Package rbac decides by roles and bindings (Role, ClusterRole, RoleBinding, ClusterRoleBinding), and refuses that somebody gives
// away more than is theirs.
//
// What bindings say is indexed by subject: a request looks at the bindings of its user and of the user's groups alone. The index is made
// anew when one of the four kinds changed, from what is in the cache.
package rbac
