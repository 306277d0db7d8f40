package simulated

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// prefix is that of all annotations about behaviour.
const prefix = "simulated.kogge.dev/"

// readable says of each annotation whether a value can be read; texts always can.
var readable = map[string]func(value string) bool{
	AnnotationStartDelay:  isDuration,
	AnnotationImagePull:   func(value string) bool { return value == "fail" || isDuration(value) },
	AnnotationReadyAfter:  isDuration,
	AnnotationExitAfter:   isDuration,
	AnnotationExitCode:    isCode,
	AnnotationCrashLoop:   func(value string) bool { return value == "true" || isDuration(value) },
	AnnotationOOMAfter:    isDuration,
	AnnotationUsageCPU:    isQuantity,
	AnnotationUsageMemory: isQuantity,
	AnnotationMessage:     isText,
	AnnotationLog:         isText,
	AnnotationExecOutput:  isText,
	AnnotationExecCode:    isCode,
}

// ValidateAnnotations finds annotations that say nothing: of a name that is none, or whose value can't be read. On a pod they are overlooked, as
// annotations are; in what a rule or a file asks for they are mistakes.
func ValidateAnnotations(annotations map[string]string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		name, _, _ := strings.Cut(strings.TrimPrefix(key, prefix), ".")
		read, known := readable[prefix+name]
		switch at := path.Key(key); {
		case !known || !strings.HasPrefix(key, prefix):
			errs = append(errs, field.NotSupported(at, key, slices.Sorted(maps.Keys(readable))))
		case !read(annotations[key]):
			errs = append(errs, field.Invalid(at, annotations[key], "can't be read"))
		}
	}
	return errs
}

func isText(string) bool { return true }

func isDuration(value string) bool {
	_, ok := readDuration(value)
	return ok
}

func isQuantity(value string) bool {
	q, err := resource.ParseQuantity(value)
	return err == nil && q.Sign() >= 0
}

func isCode(value string) bool {
	_, ok := readCode(value)
	return ok
}
