// The greeter of ../greeter.ts, with controller-runtime: copies each config map with the label greet=yes to a secret,
// and notes in an annotation that it has done so.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const finalizer, annotation = "example.dev/greet", "example.dev/greet-status"

type reconciler struct{ client.Client }

func (r *reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var configMap corev1.ConfigMap
	if err := r.Get(ctx, req.NamespacedName, &configMap); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: configMap.Namespace, Name: configMap.Name}}
	if !configMap.DeletionTimestamp.IsZero() {
		if !controllerutil.RemoveFinalizer(&configMap, finalizer) {
			return ctrl.Result{}, nil
		}
		if err := client.IgnoreNotFound(r.Delete(ctx, secret)); err != nil {
			return ctrl.Result{}, err
		}
		return ctrl.Result{}, client.IgnoreNotFound(r.Update(ctx, &configMap))
	}
	if controllerutil.AddFinalizer(&configMap, finalizer) {
		if err := r.Update(ctx, &configMap); err != nil {
			return ctrl.Result{}, err
		}
	}
	if _, err := controllerutil.CreateOrUpdate(ctx, r.Client, secret, func() error {
		secret.Labels = map[string]string{"greet": "yes"}
		secret.Data = map[string][]byte{}
		for name, value := range configMap.Data {
			secret.Data[name] = []byte(value)
		}
		return controllerutil.SetControllerReference(&configMap, secret, r.Scheme())
	}); err != nil {
		return ctrl.Result{}, err
	}
	data, _ := json.Marshal(configMap.Data)
	sum := sha256.Sum256(data)
	if status := "copied " + hex.EncodeToString(sum[:8]); configMap.Annotations[annotation] != status {
		metav1.SetMetaDataAnnotation(&configMap.ObjectMeta, annotation, status)
		if err := r.Update(ctx, &configMap); err != nil {
			return ctrl.Result{}, err
		}
	}
	return ctrl.Result{RequeueAfter: 30 * time.Second}, nil
}

func main() {
	metrics := flag.String("metrics", "127.0.0.1:18081", "")
	health := flag.String("health", "127.0.0.1:18082", "")
	elect := flag.Bool("elect", false, "")
	flag.Parse()
	ctrl.SetLogger(zap.New())
	selector := labels.SelectorFromSet(labels.Set{"greet": "yes"})
	mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		Metrics:                       server.Options{BindAddress: *metrics},
		HealthProbeBindAddress:        *health,
		LeaderElection:                *elect,
		LeaderElectionID:              "greeter-go",
		LeaderElectionNamespace:       "default",
		LeaderElectionReleaseOnCancel: true,
		Cache: cache.Options{ByObject: map[client.Object]cache.ByObject{
			&corev1.ConfigMap{}: {Label: selector}, &corev1.Secret{}: {Label: selector}}},
	})
	must(err)
	must(ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Owns(&corev1.Secret{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: 5}).Complete(&reconciler{mgr.GetClient()}))
	must(mgr.AddHealthzCheck("healthz", healthz.Ping))
	must(mgr.AddReadyzCheck("readyz", healthz.Ping))
	must(mgr.Start(ctrl.SetupSignalHandler()))
}

func must(err error) {
	if err != nil {
		ctrl.Log.Error(err, "failed")
		os.Exit(1)
	}
}
