package server

import (
	"encoding/json"
	"net/http"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// pods lists the pods of the node.
func (s *Server) pods(w http.ResponseWriter, _ *http.Request) {
	list := v1.PodList{TypeMeta: metav1.TypeMeta{Kind: "PodList", APIVersion: "v1"}, Items: []v1.Pod{}}
	for _, pod := range s.options.Host.Pods() {
		list.Items = append(list.Items, *pod)
	}
	s.json(w, list)
}

// runningPods lists what runs, as the runtime knows it, whether or not the API knows it too.
func (s *Server) runningPods(w http.ResponseWriter, r *http.Request) {
	list := v1.PodList{TypeMeta: metav1.TypeMeta{Kind: "PodList", APIVersion: "v1"}, Items: []v1.Pod{}}
	uids, err := s.options.Runtime.UIDs(r.Context())
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	for _, uid := range uids {
		observed, err := s.options.Runtime.Pod(r.Context(), uid)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		pod := v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: observed.Name, Namespace: observed.Namespace, UID: types.UID(uid)}}
		for _, c := range observed.Running() {
			pod.Spec.Containers = append(pod.Spec.Containers, v1.Container{Name: c.Name, Image: c.Image})
		}
		if len(pod.Spec.Containers) > 0 {
			list.Items = append(list.Items, pod)
		}
	}
	s.json(w, list)
}

func (s *Server) json(w http.ResponseWriter, value any) {
	body, err := json.Marshal(value)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	s.write(w, body)
}
