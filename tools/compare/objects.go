package main

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
)

// objects lists what a scheduler looks at.
func (p *placing) objects(ctx context.Context) (all []runtime.Object, err error) {
	every := metav1.ListOptions{}
	core, storage := p.client.CoreV1(), p.client.StorageV1()
	for _, list := range []func() (runtime.Object, error){
		func() (runtime.Object, error) { return core.Nodes().List(ctx, every) },
		func() (runtime.Object, error) { return core.Pods("").List(ctx, every) },
		func() (runtime.Object, error) { return core.Namespaces().List(ctx, every) },
		func() (runtime.Object, error) { return core.Services("").List(ctx, every) },
		func() (runtime.Object, error) { return core.PersistentVolumeClaims("").List(ctx, every) },
		func() (runtime.Object, error) { return core.PersistentVolumes().List(ctx, every) },
		func() (runtime.Object, error) { return storage.StorageClasses().List(ctx, every) },
		func() (runtime.Object, error) { return storage.CSINodes().List(ctx, every) },
		func() (runtime.Object, error) { return storage.CSIDrivers().List(ctx, every) },
		func() (runtime.Object, error) { return storage.CSIStorageCapacities("").List(ctx, every) },
		func() (runtime.Object, error) {
			return p.client.PolicyV1().PodDisruptionBudgets("").List(ctx, every)
		},
	} {
		items, err := list()
		if err != nil {
			return nil, err
		}
		listed, err := meta.ExtractList(items)
		if err != nil {
			return nil, err
		}
		all = append(all, listed...)
	}
	return all, nil
}

// clear removes everything of the last random cluster.
func (p *placing) clear(ctx context.Context) error {
	every, now := metav1.ListOptions{}, metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}
	core := p.client.CoreV1()
	services, err := core.Services("default").List(ctx, every)
	if err != nil {
		return err
	}
	for i := range services.Items {
		if name := services.Items[i].Name; name != "kubernetes" {
			if err := core.Services("default").Delete(ctx, name, now); err != nil {
				return err
			}
		}
	}
	for _, remove := range []func() error{
		func() error { return core.Pods("default").DeleteCollection(ctx, now, every) },
		func() error { return core.Nodes().DeleteCollection(ctx, now, every) },
		func() error { return core.PersistentVolumeClaims("default").DeleteCollection(ctx, now, every) },
		func() error { return core.PersistentVolumes().DeleteCollection(ctx, now, every) },
		func() error { return p.client.StorageV1().CSINodes().DeleteCollection(ctx, now, every) },
		func() error {
			return p.client.StorageV1().CSIStorageCapacities("default").DeleteCollection(ctx, now, every)
		},
		func() error {
			return p.client.PolicyV1().PodDisruptionBudgets("default").DeleteCollection(ctx, now, every)
		},
	} {
		if err := remove(); err != nil {
			return err
		}
	}
	return nil
}
