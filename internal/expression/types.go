package expression

import (
	apiservercel "k8s.io/apiserver/pkg/cel"
)

// structType declares a struct with fields that are all required or all optional, by name.
func structType(name string, required, optional map[string]*apiservercel.DeclType) *apiservercel.DeclType {
	fields := make(map[string]*apiservercel.DeclField, len(required)+len(optional))
	for n, t := range required {
		fields[n] = apiservercel.NewDeclField(n, t, true, nil, nil)
	}
	for n, t := range optional {
		fields[n] = apiservercel.NewDeclField(n, t, false, nil, nil)
	}
	return apiservercel.NewObjectType(name, fields)
}

// types is short for the fields of a struct.
type types = map[string]*apiservercel.DeclType

func listOf(t *apiservercel.DeclType) *apiservercel.DeclType {
	return apiservercel.NewListType(t, -1)
}

func mapOf(t *apiservercel.DeclType) *apiservercel.DeclType {
	return apiservercel.NewMapType(apiservercel.StringType, t, -1)
}

// requestType declares what the variable "request" shows: an AdmissionRequest without its uid and objects.
func requestType() *apiservercel.DeclType {
	text := apiservercel.StringType
	kind := structType("kubernetes.GroupVersionKind", types{"group": text, "version": text, "kind": text}, nil)
	resource := structType("kubernetes.GroupVersionResource", types{"group": text, "version": text, "resource": text}, nil)
	user := structType("kubernetes.UserInfo", nil, types{"username": text, "uid": text, "groups": listOf(text), "extra": mapOf(listOf(text))})
	return structType("kubernetes.AdmissionRequest",
		types{"kind": kind, "resource": resource, "requestKind": kind, "requestResource": resource, "name": text, "operation": text, "userInfo": user},
		types{"subResource": text, "requestSubResource": text, "namespace": text, "dryRun": apiservercel.BoolType, "options": apiservercel.DynType})
}

// namespaceType declares what the variable "namespaceObject" shows.
func namespaceType() *apiservercel.DeclType {
	text, number, when := apiservercel.StringType, apiservercel.IntType, apiservercel.TimestampType
	condition := structType("kubernetes.NamespaceCondition",
		types{"status": text, "type": text, "lastTransitionTime": when, "message": text, "reason": text}, nil)
	metadata := structType("kubernetes.NamespaceMetadata", types{
		"name": text, "generateName": text, "namespace": text, "labels": mapOf(text), "annotations": mapOf(text), "UID": text,
		"creationTimestamp": when, "deletionGracePeriodSeconds": number, "deletionTimestamp": when, "generation": number,
		"resourceVersion": text, "finalizers": listOf(text),
	}, nil)
	spec := structType("kubernetes.NamespaceSpec", types{"finalizers": listOf(text)}, nil)
	status := structType("kubernetes.NamespaceStatus", types{"conditions": listOf(condition), "phase": text}, nil)
	return structType("kubernetes.Namespace", types{"metadata": metadata, "spec": spec, "status": status}, nil)
}
