package quota

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Equal says that both lists have the same names with the same amounts.
func Equal(a, b corev1.ResourceList) bool {
	return maps.EqualFunc(a, b, func(x, y resource.Quantity) bool { return x.Cmp(y) == 0 })
}

// Add gives the sum, by name.
func Add(a, b corev1.ResourceList) corev1.ResourceList {
	sum := make(corev1.ResourceList, len(a))
	for name, amount := range a {
		sum[name] = amount.DeepCopy()
	}
	for name, amount := range b {
		total := amount.DeepCopy()
		if present, ok := sum[name]; ok {
			present.Add(total)
			total = present
		}
		sum[name] = total
	}
	return sum
}

// Increase gives how much more after is than before, by name; never less than zero.
func Increase(before, after corev1.ResourceList) corev1.ResourceList {
	more := corev1.ResourceList{}
	for name, amount := range after {
		difference := amount.DeepCopy()
		if earlier, ok := before[name]; ok {
			difference.Sub(earlier)
		}
		if difference.Sign() > 0 {
			more[name] = difference
		}
	}
	return more
}

// Mask keeps the amounts of those names.
func Mask(list corev1.ResourceList, names []corev1.ResourceName) corev1.ResourceList {
	kept := corev1.ResourceList{}
	for _, name := range names {
		if amount, ok := list[name]; ok {
			kept[name] = amount.DeepCopy()
		}
	}
	return kept
}

// Names gives the names in order.
func Names(list corev1.ResourceList) []corev1.ResourceName { return slices.Sorted(maps.Keys(list)) }

// Select gives the names in order of which a statement about name and amount is true.
func Select(list corev1.ResourceList, is func(corev1.ResourceName, resource.Quantity) bool) []corev1.ResourceName {
	var names []corev1.ResourceName
	for _, name := range Names(list) {
		if is(name, list[name]) {
			names = append(names, name)
		}
	}
	return names
}

// Text is the list as errors show it: "cpu=1,pods=2".
func Text(list corev1.ResourceList) string {
	parts := make([]string, 0, len(list))
	for _, name := range Names(list) {
		amount := list[name]
		parts = append(parts, string(name)+"="+amount.String())
	}
	return strings.Join(parts, ",")
}

// Join is the names as errors show them.
func Join(names []corev1.ResourceName) string {
	parts := make([]string, 0, len(names))
	for _, name := range names {
		parts = append(parts, string(name))
	}
	return strings.Join(parts, ",")
}

// number is an amount of whole things.
func number(n int64) resource.Quantity { return *resource.NewQuantity(n, resource.DecimalSI) }
