package cluster

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
)

var definitions = apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions")

// InstallCRDs creates or updates all CustomResourceDefinitions in the files, and in the .yaml, .yml and .json files of the folders,
// and returns once all are served. Other kinds in the files are left alone. A conversion webhook behind a Service, as kustomize adds it to
// what controller-gen writes, becomes one of the server that InstallWebhooks returns; its path stays.
func (c *Cluster) InstallCRDs(ctx context.Context, paths ...string) error {
	objects, err := readObjects(paths, func(gvk schema.GroupVersionKind) bool {
		return gvk.GroupKind() == apiextensionsv1.Kind("CustomResourceDefinition")
	})
	if err != nil {
		return err
	}
	client, err := dynamic.NewForConfig(c.InProcessConfig())
	if err != nil {
		return err
	}
	if err := c.pointConversions(objects); err != nil {
		return err
	}
	all, ctx := errgroup.WithContext(ctx)
	for _, o := range objects {
		all.Go(func() error {
			if err := apply(ctx, client.Resource(definitions), o); err != nil {
				return fmt.Errorf("install %s: %w", o.GetName(), err)
			}
			return awaitEstablished(ctx, client.Resource(definitions), o.GetName())
		})
	}
	return all.Wait()
}

// apply makes an object as it is given, whoever owned its fields before.
func apply(ctx context.Context, client dynamic.ResourceInterface, o *unstructured.Unstructured) error {
	_, err := client.Create(ctx, o, metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	_, err = client.Apply(ctx, o.GetName(), o, metav1.ApplyOptions{FieldManager: "kogge-install", Force: true})
	return err
}

// awaitEstablished waits until a definition's resource is served.
func awaitEstablished(ctx context.Context, client dynamic.ResourceInterface, name string) error {
	w, err := client.Watch(ctx, metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("metadata.name", name).String()})
	if err != nil {
		return err
	}
	defer w.Stop()
	last := "no condition yet"
	for {
		select {
		case <-ctx.Done():
			return fmt.Errorf("definition %s is not established: %s: %w", name, last, ctx.Err())
		case e, ok := <-w.ResultChan():
			if !ok {
				return fmt.Errorf("definition %s is not established: %s: the watch ended", name, last)
			}
			o, ok := e.Object.(*unstructured.Unstructured)
			if !ok {
				return apierrors.FromObject(e.Object)
			}
			definition := &apiextensionsv1.CustomResourceDefinition{}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, definition); err != nil {
				return err
			}
			for _, condition := range definition.Status.Conditions {
				switch {
				case condition.Type == apiextensionsv1.Established && condition.Status == apiextensionsv1.ConditionTrue:
					return nil
				case condition.Status == apiextensionsv1.ConditionFalse:
					last = condition.Message
				}
			}
		}
	}
}

// readObjects reads the objects of the wanted kinds.
func readObjects(paths []string, wanted func(schema.GroupVersionKind) bool) ([]*unstructured.Unstructured, error) {
	files, err := filesOf(paths)
	if err != nil {
		return nil, err
	}
	var out []*unstructured.Unstructured
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		objects, err := decodeObjects(content)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		for _, o := range objects {
			if wanted(o.GroupVersionKind()) {
				out = append(out, o)
			}
		}
	}
	return out, nil
}

// decodeObjects reads a stream of YAML or JSON documents. Lists are taken apart; what is empty is left out.
func decodeObjects(content []byte) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	documents := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		tree := map[string]any{}
		if err := yaml.Unmarshal(document, &tree); err != nil {
			return nil, err
		}
		if len(tree) == 0 {
			continue
		}
		o := &unstructured.Unstructured{Object: tree}
		if !o.IsList() {
			out = append(out, o)
			continue
		}
		if err := o.EachListItem(func(item runtime.Object) error {
			out = append(out, item.(*unstructured.Unstructured))
			return nil
		}); err != nil {
			return nil, err
		}
	}
}

// filesOf gives the files, and those of the folders that are YAML or JSON, in order.
func filesOf(paths []string) ([]string, error) {
	var out []string
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			out = append(out, path)
			continue
		}
		entries, err := os.ReadDir(path)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if isManifest(e) {
				out = append(out, filepath.Join(path, e.Name()))
			}
		}
	}
	return out, nil
}

func isManifest(e fs.DirEntry) bool {
	return !e.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(filepath.Ext(e.Name())))
}
