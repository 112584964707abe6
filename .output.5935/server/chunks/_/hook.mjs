import { z } from 'zod';
import { A as AppError, N as isId, O as sameSecret } from '../nitro/nitro.mjs';
import { b as isBranchOrTag, d as commitFault } from './refs.mjs';
import { i as imageFault, a as imagePath } from './rules2.mjs';
import { g as getService } from './store5.mjs';
import { q as queueSourceDeploy } from './operations4.mjs';

const HookQuery = z.strictObject({
  key: z.string().default("").meta({
    description: "The service's deploy hook key",
    examples: ["5d2f6a804f1d0c9a7b3e5d2f6a804f1d0c9a7b3e"]
  }),
  ref: z.string().optional().meta({
    description: "Commit of the configured branch, or name of a branch or tag, to deploy of a repository",
    examples: ["9fceb02"]
  }),
  image: z.string().optional().meta({
    description: "Image to deploy: the configured path with another tag or digest",
    examples: ["registry.example.com/api:3"]
  })
});
function findHooked(serviceId, key) {
  const service = isId("service", serviceId) ? getService(serviceId) : void 0;
  const matches = sameSecret(key, service?.deploy_hook_key ?? "");
  if (!service || !matches) throw new AppError("unauthorized", "unknown service or wrong key");
  return service;
}
function runDeployHook(serviceId, query) {
  const service = findHooked(serviceId, query.key);
  if (query.ref !== void 0) {
    refuse("ref", refFault(query.ref));
    if (service.repo_url === null) refuse("ref", `service ${service.name} has no repository`);
  }
  if (query.image !== void 0) {
    refuse("image", imageFault(query.image));
    if (service.image === null)
      throw new AppError("invalid_request", `image: service ${service.name} has no image`);
    if (imagePath(query.image) !== imagePath(service.image)) {
      throw new AppError(
        "invalid_request",
        `image: must be ${imagePath(service.image)} with another tag or digest`
      );
    }
  }
  return queueSourceDeploy(service, "deploy_hook", {
    ...query.ref === void 0 ? {} : { commit: query.ref },
    ...query.image === void 0 ? {} : { image: query.image }
  });
}
function refFault(ref) {
  const isOffered = !ref.startsWith("refs/") || isBranchOrTag(ref);
  return commitFault(ref) ?? (isOffered ? null : "must be a branch, a tag, or a commit of the configured branch");
}
function refuse(field, fault) {
  if (fault !== null) throw new AppError("invalid_request", `${field}: ${fault}`);
}

export { HookQuery as H, findHooked as f, runDeployHook as r };
