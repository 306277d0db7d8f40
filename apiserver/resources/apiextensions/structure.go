package apiextensions

import "github.com/kogge-dev/kogge/apiserver/resource"

// structure is the definition's structured-merge schema: client-go, from which the other kinds' come, leaves it out. Versions are
// an atomic list, so what is in them has no owners of its own, and its structure need not be known here.
const structure = `types:
- name: io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition
  map:
    fields:
    - {name: apiVersion, type: {scalar: string}}
    - {name: kind, type: {scalar: string}}
    - {name: metadata, type: {namedType: meta}, default: {}}
    - {name: spec, type: {namedType: spec}, default: {}}
    - {name: status, type: {namedType: status}, default: {}}
- name: spec
  map:
    fields:
    - {name: conversion, type: {namedType: conversion}}
    - {name: group, type: {scalar: string}, default: ""}
    - {name: names, type: {namedType: names}, default: {}}
    - {name: preserveUnknownFields, type: {scalar: boolean}}
    - {name: scope, type: {scalar: string}, default: ""}
    - {name: versions, type: {namedType: atoms}}
- name: conversion
  map:
    fields:
    - {name: strategy, type: {scalar: string}, default: ""}
    - {name: webhook, type: {namedType: webhook}}
- name: webhook
  map:
    fields:
    - {name: clientConfig, type: {namedType: client}}
    - {name: conversionReviewVersions, type: {namedType: atoms}}
- name: client
  map:
    fields:
    - {name: caBundle, type: {scalar: string}}
    - {name: service, type: {namedType: service}}
    - {name: url, type: {scalar: string}}
- name: service
  map:
    fields:
    - {name: name, type: {scalar: string}, default: ""}
    - {name: namespace, type: {scalar: string}, default: ""}
    - {name: path, type: {scalar: string}}
    - {name: port, type: {scalar: numeric}}
- name: names
  map:
    fields:
    - {name: categories, type: {namedType: atoms}}
    - {name: kind, type: {scalar: string}, default: ""}
    - {name: listKind, type: {scalar: string}}
    - {name: plural, type: {scalar: string}, default: ""}
    - {name: shortNames, type: {namedType: atoms}}
    - {name: singular, type: {scalar: string}}
- name: status
  map:
    fields:
    - {name: acceptedNames, type: {namedType: names}, default: {}}
    - name: conditions
      type:
        list:
          elementRelationship: associative
          keys: [type]
          elementType: {namedType: condition}
    - {name: observedGeneration, type: {scalar: numeric}}
    - {name: storedVersions, type: {namedType: atoms}}
- name: condition
  map:
    fields:
    - {name: lastTransitionTime, type: {namedType: any}}
    - {name: message, type: {scalar: string}}
    - {name: observedGeneration, type: {scalar: numeric}}
    - {name: reason, type: {scalar: string}}
    - {name: status, type: {scalar: string}, default: ""}
    - {name: type, type: {scalar: string}, default: ""}
` + resource.MetaStructure
