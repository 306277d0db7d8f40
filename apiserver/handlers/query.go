package handlers

import (
	"fmt"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// connectOptions reads a query into the options of an endpoint that connects to a pod: each field from the
// parameter of its JSON name, as the API's own conversions do.
func connectOptions(q url.Values, into runtime.Object) error {
	v := reflect.ValueOf(into).Elem()
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		values := q[name]
		if name == "" || len(values) == 0 {
			continue
		}
		if err := setField(v.Field(i), values); err != nil {
			return apierrors.NewBadRequest(err.Error())
		}
	}
	return nil
}

// setField sets a field of one of the types that such options have.
func setField(f reflect.Value, values []string) error {
	first := values[0]
	switch f.Interface().(type) {
	case bool:
		f.SetBool(truth(first))
	case string:
		f.SetString(first)
	case []string:
		f.Set(reflect.ValueOf(values))
	case *string:
		f.Set(reflect.ValueOf(&first))
	case []int32:
		for _, s := range values {
			n, err := strconv.ParseInt(s, 10, 32)
			if err != nil {
				return err
			}
			f.Set(reflect.Append(f, reflect.ValueOf(int32(n))))
		}
	case *int64:
		if first == "" {
			return nil
		}
		n, err := strconv.ParseInt(first, 10, 64)
		if err != nil {
			return err
		}
		f.Set(reflect.ValueOf(&n))
	case *metav1.Time:
		if first == "" {
			return nil
		}
		t, err := time.Parse(time.RFC3339, first)
		if err != nil {
			return err
		}
		f.Set(reflect.ValueOf(&metav1.Time{Time: t.Local()}))
	default:
		return fmt.Errorf("converting a query to %s", f.Type())
	}
	return nil
}

// truth: everything but false and 0 is true, also nothing at all.
func truth(s string) bool { return !strings.EqualFold(s, "false") && s != "0" }
