package stages

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	strictjson "sigs.k8s.io/json"
)

// Load reads the Stages of files. A file without one is an error.
func Load(files ...string) ([]Stage, error) {
	var all []Stage
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		read, err := Decode(f)
		if err = errors.Join(err, f.Close()); err == nil && len(read) == 0 {
			err = errors.New("no object of kind Stage is in it")
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, read...)
	}
	return all, nil
}

// Decode reads the Stages of a stream of YAML or JSON documents. Lists are taken apart, other kinds left alone.
func Decode(r io.Reader) ([]Stage, error) {
	var all []Stage
	documents := yaml.NewYAMLReader(bufio.NewReader(r))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err == nil {
			document, err = yaml.ToJSON(document)
		}
		if err != nil {
			return nil, err
		}
		if all, err = decodeDocument(all, document); err != nil {
			return nil, err
		}
	}
}

// head is what tells what a document is.
type head struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        struct {
		Name any `json:"name"` // other kinds may have what they like
	} `json:"metadata"`
	Items []json.RawMessage `json:"items"`
}

func decodeDocument(all []Stage, document []byte) ([]Stage, error) {
	var h head
	if err := json.Unmarshal(document, &h); err != nil {
		return nil, err
	}
	for _, item := range h.Items {
		var err error
		if all, err = decodeDocument(all, item); err != nil {
			return nil, err
		}
	}
	kind := schema.FromAPIVersionAndKind(h.APIVersion, h.Kind)
	if kind.GroupKind() != groupKind {
		return all, nil
	}
	if kind.Version != version {
		return nil, fmt.Errorf("Stage %v: version %s is not known, only %s", h.Metadata.Name, kind.Version, version)
	}
	var s Stage
	unknown, err := strictjson.UnmarshalStrict(document, &s)
	if err := errors.Join(append(unknown, err)...); err != nil {
		return nil, fmt.Errorf("Stage %v: %w", h.Metadata.Name, err)
	}
	return append(all, s), Validate(s)
}

// Validate says what is wrong with a Stage, as the API server would.
func Validate(s Stage) error {
	if _, failures := compile(&s, time.Now); len(failures) > 0 {
		return apierrors.NewInvalid(groupKind, s.Name, failures)
	}
	return nil
}
