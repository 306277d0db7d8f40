package resource

// MetaStructure ends the structured-merge schema of a kind that brings its own: the types "meta" of metadata, "atoms" of
// lists that have one owner, and "any".
const MetaStructure = `- name: meta
  map:
    fields:
    - {name: annotations, type: {map: {elementType: {scalar: string}}}}
    - {name: creationTimestamp, type: {namedType: any}}
    - {name: deletionGracePeriodSeconds, type: {scalar: numeric}}
    - {name: deletionTimestamp, type: {namedType: any}}
    - {name: finalizers, type: {list: {elementType: {scalar: string}, elementRelationship: associative}}}
    - {name: generateName, type: {scalar: string}}
    - {name: generation, type: {scalar: numeric}}
    - {name: labels, type: {map: {elementType: {scalar: string}}}}
    - {name: managedFields, type: {namedType: atoms}}
    - {name: name, type: {scalar: string}}
    - {name: namespace, type: {scalar: string}}
    - {name: ownerReferences, type: {list: {elementType: {namedType: owner}, elementRelationship: associative, keys: [uid]}}}
    - {name: resourceVersion, type: {scalar: string}}
    - {name: selfLink, type: {scalar: string}}
    - {name: uid, type: {scalar: string}}
- name: owner
  map:
    fields:
    - {name: apiVersion, type: {scalar: string}, default: ""}
    - {name: blockOwnerDeletion, type: {scalar: boolean}}
    - {name: controller, type: {scalar: boolean}}
    - {name: kind, type: {scalar: string}, default: ""}
    - {name: name, type: {scalar: string}, default: ""}
    - {name: uid, type: {scalar: string}, default: ""}
    elementRelationship: atomic
- name: atoms
  list: {elementType: {namedType: any}, elementRelationship: atomic}
- name: any
  scalar: untyped
  list: {elementType: {namedType: any}, elementRelationship: atomic}
  map: {elementType: {namedType: any}, elementRelationship: atomic}
`
