package devices

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	resourcev1 "k8s.io/api/resource/v1"
	unversioned "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resources/podspec"
	"github.com/kogge-dev/kogge/apiserver/resources/rules"
)

// Limits of a status that have no exported name.
const (
	maxDeviceConditions = 8
	maxDeviceData       = 10 * 1024
	maxInterfaceName    = 256
	maxHardwareAddress  = 128
	maxAddresses        = 16
)

var statusPath = field.NewPath("status")

// deviceID tells a device, or a share of one, from all others.
func deviceID(driver, pool, device string, share *types.UID) string {
	id := driver + "/" + pool + "/" + device
	if share != nil {
		id += "/" + string(*share)
	}
	return id
}

func allocated(s *resourcev1.ResourceClaimStatus) map[string]bool {
	ids := map[string]bool{}
	if s.Allocation != nil {
		for _, r := range s.Allocation.Devices.Results {
			ids[deviceID(r.Driver, r.Pool, r.Device, r.ShareID)] = true
		}
	}
	return ids
}

func statusID(d *resourcev1.AllocatedDeviceStatus) string {
	return deviceID(d.Driver, d.Pool, d.Device, (*types.UID)(d.ShareID))
}

// dropDeallocated forgets the status of devices that the claim gave back.
func dropDeallocated(c, old *resourcev1.ResourceClaim) {
	was, is := allocated(&old.Status), allocated(&c.Status)
	c.Status.Devices = slices.DeleteFunc(c.Status.Devices, func(d resourcev1.AllocatedDeviceStatus) bool {
		return was[statusID(&d)] && !is[statusID(&d)]
	})
	if len(c.Status.Devices) == 0 {
		c.Status.Devices = nil
	}
}

func validateClaimStatus(c, old *resourcev1.ResourceClaim) field.ErrorList {
	s := &c.Status
	errs := unique(s.ReservedFor, resourcev1.ResourceClaimReservedForMaxSize, statusPath.Child("reservedFor"), validateConsumer,
		func(r resourcev1.ResourceClaimConsumerReference) types.UID { return r.UID })
	ids := allocated(s)
	errs = append(errs, unique(s.Devices, -1, statusPath.Child("devices"), func(d resourcev1.AllocatedDeviceStatus, p *field.Path) field.ErrorList {
		return validateDeviceStatus(&d, ids, p)
	}, func(d resourcev1.AllocatedDeviceStatus) string { return statusID(&d) })...)
	if len(s.ReservedFor) > 0 && s.Allocation == nil {
		errs = append(errs, field.Forbidden(statusPath.Child("reservedFor"), "may not be specified when `allocated` is not set"))
	} else if c.DeletionTimestamp != nil && slices.ContainsFunc(s.ReservedFor, func(r resourcev1.ResourceClaimConsumerReference) bool {
		return !slices.Contains(old.Status.ReservedFor, r)
	}) {
		errs = append(errs, field.Forbidden(statusPath.Child("reservedFor"), "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set"))
	}
	switch {
	case s.Allocation != nil && old.Status.Allocation != nil:
		errs = append(errs, rules.Immutable(statusPath.Child("allocation"), s.Allocation, old.Status.Allocation)...)
	case s.Allocation != nil:
		errs = append(errs, validateAllocation(s.Allocation, requestNames(&c.Spec.Devices), statusPath.Child("allocation"))...)
	}
	return errs
}

func validateConsumer(r resourcev1.ResourceClaimConsumerReference, p *field.Path) field.ErrorList {
	errs := rules.Required(p.Child("resource"), r.Resource)
	errs = append(errs, rules.Required(p.Child("name"), r.Name)...)
	return append(errs, rules.Required(p.Child("uid"), string(r.UID))...)
}

func validateAllocation(a *resourcev1.AllocationResult, names map[string][]string, p *field.Path) field.ErrorList {
	errs := each(a.Devices.Results, resourcev1.AllocationResultsMaxSize, p.Child("devices", "results"), func(r resourcev1.DeviceRequestAllocationResult, p *field.Path) field.ErrorList {
		return validateResult(&r, names, p)
	})
	errs = append(errs, each(a.Devices.Config, 2*resourcev1.DeviceConfigMaxSize, p.Child("devices", "config"), func(c resourcev1.DeviceAllocationConfiguration, p *field.Path) field.ErrorList {
		errs := rules.OneOf(p.Child("source"), c.Source, resourcev1.AllocationConfigSourceClaim, resourcev1.AllocationConfigSourceClass)
		errs = append(errs, validateRequestReferences(c.Requests, names, p.Child("requests"))...)
		return append(errs, validateConfiguration(&c.DeviceConfiguration, p, false)...)
	})...)
	if a.NodeSelector != nil {
		errs = append(errs, podspec.ValidateNodeSelector(a.NodeSelector, p.Child("nodeSelector"))...)
	}
	return errs
}

func validateResult(r *resourcev1.DeviceRequestAllocationResult, names map[string][]string, p *field.Path) field.ErrorList {
	errs := validateRequestReference(r.Request, names, p.Child("request"))
	errs = append(errs, validateDriver(r.Driver, p.Child("driver"))...)
	errs = append(errs, validatePool(r.Pool, p.Child("pool"))...)
	errs = append(errs, validateLabel(r.Device, p.Child("device"))...)
	errs = append(errs, validateBindingConditions(r.BindingConditions, r.BindingFailureConditions, p)...)
	errs = append(errs, each(r.Tolerations, -1, p.Child("tolerations"), validateToleration)...)
	if r.ShareID != nil {
		errs = append(errs, validateUID(string(*r.ShareID), p.Child("shareID"))...)
	}
	return errs
}

func validateUID(uid string, p *field.Path) field.ErrorList {
	if err := uuid.Validate(uid); err != nil {
		return field.ErrorList{field.Invalid(p, uid, fmt.Sprintf("error validating uid: %v", err))}
	}
	if len(uid) != 36 || uid != strings.ToLower(uid) {
		return field.ErrorList{field.Invalid(p, uid, "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters")}
	}
	return nil
}

func validateDeviceStatus(d *resourcev1.AllocatedDeviceStatus, ids map[string]bool, p *field.Path) field.ErrorList {
	errs := validateDriver(d.Driver, p.Child("driver"))
	errs = append(errs, validatePool(d.Pool, p.Child("pool"))...)
	errs = append(errs, validateLabel(d.Device, p.Child("device"))...)
	if d.ShareID != nil {
		errs = append(errs, validateUID(*d.ShareID, p.Child("shareID"))...)
	}
	if !ids[statusID(d)] {
		errs = append(errs, field.Invalid(p, statusID(d), "must be an allocated device in the claim"))
	}
	if n := len(d.Conditions); n > maxDeviceConditions {
		errs = append(errs, field.TooMany(p.Child("conditions"), n, maxDeviceConditions))
	}
	errs = append(errs, unversioned.ValidateConditions(d.Conditions, p.Child("conditions"))...)
	if d.Data != nil && len(d.Data.Raw) > 0 {
		errs = append(errs, validateParameters(d.Data.Raw, maxDeviceData, false, p.Child("data"))...)
	}
	if d.NetworkData != nil {
		errs = append(errs, validateNetwork(d.NetworkData, p.Child("networkData"))...)
	}
	return errs
}

func validateNetwork(n *resourcev1.NetworkDeviceData, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(n.InterfaceName) > maxInterfaceName {
		errs = append(errs, field.TooLong(p.Child("interfaceName"), "", maxInterfaceName))
	}
	if len(n.HardwareAddress) > maxHardwareAddress {
		errs = append(errs, field.TooLong(p.Child("hardwareAddress"), "", maxHardwareAddress))
	}
	return append(errs, unique(n.IPs, maxAddresses, p.Child("ips"), func(ip string, p *field.Path) field.ErrorList {
		return validation.IsValidInterfaceAddress(p, ip)
	}, func(ip string) string { return ip })...)
}
