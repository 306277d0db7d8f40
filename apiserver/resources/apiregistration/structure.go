package apiregistration

import "github.com/kogge-dev/kogge/apiserver/resource"

// structure is the kind's structured-merge schema: client-go, from which the other kinds' come, leaves it out.
const structure = `types:
- name: io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIService
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
    - {name: caBundle, type: {scalar: string}}
    - {name: group, type: {scalar: string}}
    - {name: groupPriorityMinimum, type: {scalar: numeric}, default: 0}
    - {name: insecureSkipTLSVerify, type: {scalar: boolean}}
    - {name: service, type: {namedType: service}}
    - {name: version, type: {scalar: string}}
    - {name: versionPriority, type: {scalar: numeric}, default: 0}
- name: service
  map:
    fields:
    - {name: name, type: {scalar: string}}
    - {name: namespace, type: {scalar: string}}
    - {name: port, type: {scalar: numeric}}
- name: status
  map:
    fields:
    - name: conditions
      type:
        list:
          elementRelationship: associative
          keys: [type]
          elementType: {namedType: condition}
- name: condition
  map:
    fields:
    - {name: lastTransitionTime, type: {namedType: any}}
    - {name: message, type: {scalar: string}}
    - {name: reason, type: {scalar: string}}
    - {name: status, type: {scalar: string}, default: ""}
    - {name: type, type: {scalar: string}, default: ""}
` + resource.MetaStructure
