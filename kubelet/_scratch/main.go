package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"os/signal"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kogge-dev/kogge/kubelet"
	"github.com/kogge-dev/kogge/kubelet/runtime/simulated"
)

func main() {
	kc := flag.String("kubeconfig", "", "")
	name := flag.String("name", "sim-1", "")
	flag.Parse()
	config, err := clientcmd.BuildConfigFromFlags("", *kc)
	if err != nil {
		panic(err)
	}
	rt, _ := simulated.New(simulated.Options{})
	k, err := kubelet.New(kubelet.Options{
		NodeName: *name, Config: config, Runtime: rt, Images: rt.Images(), NodeIP: netip.MustParseAddr("10.0.0.1"),
		Capacity: v1.ResourceList{v1.ResourceCPU: resource.MustParse("4"), v1.ResourceMemory: resource.MustParse("8Gi"), v1.ResourceEphemeralStorage: resource.MustParse("100Gi")},
		Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	if err != nil {
		panic(err)
	}
	ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt)
	fmt.Println(k.Run(ctx))
}
