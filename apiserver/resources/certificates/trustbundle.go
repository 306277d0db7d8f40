package certificates

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"
	certificatesv1beta1 "k8s.io/api/certificates/v1beta1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/apiserver/resources/rules"
)

// maxBundle bounds a bundle, in bytes.
const maxBundle = 1 << 20

// ClusterTrustBundle holds certificates that are trusted. Bytes of v1beta1, which is stored, and of v1 are the same.
var ClusterTrustBundle = resource.Define(resource.Kind[*certificatesv1.ClusterTrustBundle]{
	Name:     resource.Name{Group: "certificates.k8s.io", Version: "v1", Kind: "ClusterTrustBundle", Plural: "clustertrustbundles"},
	List:     &certificatesv1.ClusterTrustBundleList{},
	Store:    "clustertrustbundles",
	StoredAs: certificatesv1beta1.SchemeGroupVersion.WithKind("ClusterTrustBundle"),
	Strategy: resource.Strategy[*certificatesv1.ClusterTrustBundle]{
		Validate: func(_ context.Context, b *certificatesv1.ClusterTrustBundle) field.ErrorList {
			return append(validateBundleName(b), validateAnchors(b.Spec.TrustBundle)...)
		},
		ValidateUpdate: func(_ context.Context, b, old *certificatesv1.ClusterTrustBundle) field.ErrorList {
			errs := validateBundleName(b)
			if b.Spec.TrustBundle != old.Spec.TrustBundle {
				errs = append(errs, validateAnchors(b.Spec.TrustBundle)...)
			}
			return append(errs, rules.Immutable(specPath.Child("signerName"), b.Spec.SignerName, old.Spec.SignerName)...)
		},
	},
	// What names are good depends on the signer.
	OwnMetadata:  true,
	NeedsVersion: true,
	Fields: map[string]func(*certificatesv1.ClusterTrustBundle) string{
		"spec.signerName": func(b *certificatesv1.ClusterTrustBundle) string { return b.Spec.SignerName },
	},
	Columns: []metav1.TableColumnDefinition{
		resource.NameColumn,
		resource.Column("SignerName", "string", certificatesv1.ClusterTrustBundleSpec{}.SwaggerDoc()["signerName"]),
	},
	Row: func(b *certificatesv1.ClusterTrustBundle) []any {
		if b.Spec.SignerName == "" {
			return []any{b.Name, "<none>"}
		}
		return []any{b.Name, b.Spec.SignerName}
	},
})

// bundleName gives the rule for names: a bundle of a signer begins with the signer's.
func bundleName(signer string) func(name string, prefix bool) []string {
	return func(name string, prefix bool) []string {
		if signer == "" {
			if strings.Contains(name, ":") {
				return []string{`ClusterTrustBundle without signer name must not have ":" in its name`}
			}
			return apivalidation.NameIsDNSSubdomain(name, prefix)
		}
		must := strings.ReplaceAll(signer, "/", ":") + ":"
		rest, ok := strings.CutPrefix(name, must)
		if !ok {
			return []string{fmt.Sprintf("ClusterTrustBundle for signerName %s must be named with prefix %s", signer, must)}
		}
		return apivalidation.NameIsDNSSubdomain(rest, prefix)
	}
}

func validateBundleName(b *certificatesv1.ClusterTrustBundle) field.ErrorList {
	path := field.NewPath("metadata")
	errs := apivalidation.ValidateObjectMeta(&b.ObjectMeta, false, bundleName(b.Spec.SignerName), path)
	errs = append(errs, resource.ValidateFinalizers(b, path)...)
	if b.Spec.SignerName != "" {
		errs = append(errs, rules.Signer(b.Spec.SignerName, specPath.Child("signerName"))...)
	}
	return errs
}

// validateAnchors: certificates of authorities in PEM, at least one, and none twice.
func validateAnchors(text string) field.ErrorList {
	path := specPath.Child("trustBundle")
	if len(text) > maxBundle {
		return field.ErrorList{field.TooLong(path, "", maxBundle)}
	}
	var errs field.ErrorList
	refuse := func(format string, a ...any) {
		errs = append(errs, field.Invalid(path, "<value omitted>", fmt.Sprintf(format, a...)))
	}
	at := map[string][]int{}
	var order []string
	rest := []byte(text)
	for i := 0; ; i++ {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if bad := badAnchor(block); bad != "" {
			refuse("entry %d %s", i, bad)
			continue
		}
		key := string(block.Bytes)
		if at[key] == nil {
			order = append(order, key)
		}
		at[key] = append(at[key], i)
	}
	if len(errs) > 0 {
		return errs
	}
	if len(order) == 0 {
		refuse("at least one trust anchor must be provided")
	}
	for _, key := range order {
		if len(at[key]) > 1 {
			refuse("duplicate trust anchor (indices %v)", at[key])
		}
	}
	return errs
}

// badAnchor says what is wrong with one certificate; nothing if it is fine.
func badAnchor(block *pem.Block) string {
	if block.Type != "CERTIFICATE" {
		return "has bad block type: " + block.Type
	}
	if len(block.Headers) != 0 {
		return "has PEM block headers"
	}
	c, err := x509.ParseCertificate(block.Bytes)
	switch {
	case err != nil:
		return "does not parse as X.509"
	case !c.IsCA:
		return "does not have the CA bit set"
	case !c.BasicConstraintsValid:
		return "has invalid basic constraints"
	}
	return ""
}
