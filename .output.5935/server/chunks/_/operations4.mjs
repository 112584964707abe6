import { E as useDatabase, A as AppError, N as isId, F as newId } from '../nitro/nitro.mjs';
import { d as tellDeploy, c as tellService } from './changes.mjs';
import { t as tryMove, m as move } from './machine.mjs';
import { g as getService } from './store5.mjs';
import { d as deployMachine } from './states.mjs';
import { g as getDeploy, e as listDeploys, n as newestArchive, i as insertDeploy, d as deploysInProgress } from './store2.mjs';

function findDeploy(id) {
  const found = isId("deploy", id) ? getDeploy(id) : void 0;
  if (!found) throw new AppError("not_found", `there is no deploy ${id}`);
  return found;
}
function queueSourceDeploy(service, trigger, choice = {}) {
  const source = sourceOf(service, choice);
  const archive = source.kind === "archive" ? newestArchive(service.id) : null;
  if (source.kind === "archive" && archive === null) {
    throw new AppError(
      "invalid_request",
      `service ${service.name} has no source: set repo_url or image, or upload an archive`
    );
  }
  return queue(service, trigger, () => ({
    source,
    repo_credentials: source.kind === "git" ? service.repo_credentials : null,
    archive_id: archive,
    clear_cache: choice.clearCache ? 1 : 0,
    image: source.kind === "image" ? choice.image ?? service.image : null
  }));
}
function queueUpload(service, deployId, clearCache) {
  assertUploadable(service);
  return queue(
    service,
    "upload",
    () => ({ source: sourceOf(service, {}), archive_id: deployId, clear_cache: clearCache ? 1 : 0 }),
    deployId
  );
}
function assertUploadable(service) {
  assertDeployable(service);
  if (service.repo_url !== null || service.image !== null) {
    throw new AppError(
      "conflict",
      `service ${service.name} has a repository or an image: clear it before uploading archives`
    );
  }
}
function queueRestart(service) {
  const live = service.live_deploy_id === null ? void 0 : getDeploy(service.live_deploy_id);
  if (!live) throw new AppError("conflict", `service ${service.name} was never live: deploy it first`);
  return queue(service, "restart", () => ({
    source: JSON.parse(live.source),
    commit_sha: live.commit_sha,
    commit_message: live.commit_message,
    commit_author: live.commit_author,
    image: live.image
  }));
}
function queueRollback(service, deployId) {
  const target = findDeploy(deployId);
  if (target.service_id !== service.id)
    throw new AppError("not_found", `service ${service.name} has no deploy ${deployId}`);
  if (!target.was_live)
    throw new AppError("conflict", `${deployId} never was live: there is nothing to roll back to`);
  const isKept = target.site_id !== null || target.image_id !== null && target.snapshot !== null;
  if (!isKept) {
    throw new AppError("conflict", `what ${deployId} ran is no longer kept: deploy its commit again`);
  }
  return queue(service, "rollback", () => ({
    source: JSON.parse(target.source),
    rollback_of: target.id,
    commit_sha: target.commit_sha,
    commit_message: target.commit_message,
    commit_author: target.commit_author,
    image: target.image,
    image_id: target.image_id,
    site_id: target.site_id,
    port: target.port,
    snapshot: target.snapshot
  }));
}
function cancelDeploy(deploy, reason = null) {
  if (deploy.status === "canceled") return deploy;
  if (!tryMove(deployMachine, deploy.id, "canceled", { finished_at: Date.now(), error: reason })) {
    throw new AppError(
      "conflict",
      `${deploy.id} is ${getDeploy(deploy.id)?.status ?? "gone"}: only a queued or running deploy can be canceled`
    );
  }
  tellDeploy(deploy.id, deploy.service_id);
  tellService(deploy.service_id);
  return findDeploy(deploy.id);
}
function cancelDeploysOf(serviceId, reason) {
  return deploysInProgress(serviceId).map(({ id }) => id).filter((id) => tryMove(deployMachine, id, "canceled", { finished_at: Date.now(), error: reason }));
}
function makeLive(deploy, alongside = () => {
}) {
  const now = Date.now();
  const former = useDatabase().transaction(() => {
    alongside();
    const service = getService(deploy.service_id);
    const formerId = service?.live_deploy_id ?? null;
    if (formerId !== null) tryMove(deployMachine, formerId, "deactivated", { replaced_at: now });
    move(deployMachine, deploy.id, "live", { was_live: 1, finished_at: now });
    useDatabase().run(
      "UPDATE services SET live_deploy_id = ?, generation = generation + 1 WHERE id = ?",
      deploy.id,
      deploy.service_id
    );
    return formerId;
  });
  if (former !== null) tellDeploy(former, deploy.service_id);
  tellDeploy(deploy.id, deploy.service_id);
  tellService(deploy.service_id);
}
function deploysOf(service, limit) {
  return listDeploys(service.id, limit);
}
function sourceOf(service, choice) {
  const none = { repo_url: null, branch: null, commit: null };
  if (service.repo_url !== null) {
    const branch = service.branch ?? choice.branch ?? null;
    return { kind: "git", repo_url: service.repo_url, branch, commit: choice.commit ?? null };
  }
  if (choice.commit !== void 0) {
    throw new AppError("invalid_request", `commit: service ${service.name} has no repository`);
  }
  return service.image === null ? { kind: "archive", ...none } : { kind: "image", ...none };
}
function assertDeployable(service) {
  if (service.deleting) throw new AppError("conflict", `service ${service.name} is being deleted`);
  if (service.suspended)
    throw new AppError("conflict", `service ${service.name} is suspended: resume it first`);
}
function queue(service, trigger, columns, id = newId("deploy")) {
  assertDeployable(service);
  const superseded = useDatabase().transaction(() => {
    insertDeploy({ id, service_id: service.id, trigger, ...columns() });
    return supersede(service.id, id, trigger);
  });
  for (const older of superseded) tellDeploy(older, service.id);
  tellDeploy(id, service.id, "created");
  return findDeploy(id);
}
function supersede(serviceId, id, trigger) {
  const reaches = (older) => trigger === "rollback" || (trigger === "restart" ? older.trigger === "restart" : older.trigger !== "rollback");
  return deploysInProgress(serviceId).filter((older) => older.id !== id && older.status === "queued" && reaches(older)).filter(
    (older) => tryMove(deployMachine, older.id, "canceled", { finished_at: Date.now(), error: `superseded by ${id}` })
  ).map((older) => older.id);
}

export { queueRestart as a, cancelDeploy as b, cancelDeploysOf as c, deploysOf as d, assertUploadable as e, findDeploy as f, queueUpload as g, queueRollback as h, makeLive as m, queueSourceDeploy as q };
