import { d as defineEndpoint, e as receiveFromAnyone } from '../../_/endpoint.mjs';
import { join } from 'node:path';
import { z } from 'zod';
import { E as useDatabase, q as randomHex, n as PRIVATE_FILE_MODE, A as AppError, O as sameSecret, J as useContext, m as messageOf, l as logger } from '../../nitro/nitro.mjs';
import { n as noteBlueprintPush } from '../../_/synced.mjs';
import { q as queueSourceDeploy } from '../../_/operations4.mjs';
import { l as loseInstallation, r as refreshInstallation } from '../../_/callback.mjs';
import { r as repositoryKey } from '../../_/same-repository.mjs';
import { b as allServices } from '../../_/store5.mjs';
import { t as touches } from '../../_/watch-paths.mjs';
import { createHmac, createHash } from 'node:crypto';
import { closeSync, openSync, unlinkSync, writeSync, fstatSync, readSync } from 'node:fs';
import { G as Gathered } from '../../_/send.mjs';
import { a as logDelivery } from '../../_/log.mjs';
import { i as isFullCommit } from '../../_/refs.mjs';
import { h as hookSecrets, m as mayDeploy } from '../../_/secrets.mjs';
import { D as Deploy } from '../../_/schema6.mjs';
import { v as viewDeploy } from '../../_/view2.mjs';
import 'node:events';
import 'node:stream';
import 'node:timers/promises';
import '../../_/validate.mjs';
import 'node:http';
import 'node:https';
import 'node:buffer';
import 'node:util';
import 'node:net';
import '../../_/changes.mjs';
import '../../_/store.mjs';
import '../../_/url.mjs';
import '../../_/view.mjs';
import '../../_/states.mjs';
import '../../_/machine.mjs';
import '../../_/store2.mjs';
import '../../_/store3.mjs';
import '../../_/internal-port.mjs';
import '../../_/states2.mjs';
import '../../_/view3.mjs';
import '../../_/public-address.mjs';
import '../../_/names.mjs';
import 'node:url';
import 'tldts';
import '../../_/bare-host.mjs';
import '../../_/store4.mjs';
import '../../_/hosts.mjs';
import '../../_/types.mjs';
import '../../_/authorize.mjs';
import '../../_/addresses.mjs';
import 'node:os';
import '../../_/serving.mjs';
import '../../_/qualified-name.mjs';
import 'universal-github-app-jwt';
import 'undici';
import '../../_/input.mjs';
import '../../_/judged.mjs';
import 'node:dns';
import '../../_/version.mjs';
import '../../_/operations9.mjs';
import '../../_/schema8.mjs';
import '../../_/query.mjs';
import '../../_/compression.mjs';
import 'node:zlib';

const KEPT_DELIVERIES = 5e3;
function wasTaken(digest, deliveryId) {
  return useDatabase().get(
    "SELECT 1 FROM webhook_deliveries WHERE body_digest = ? OR delivery_id = ?",
    digest,
    deliveryId
  ) !== void 0;
}
function recordDelivery(digest, deliveryId) {
  const database = useDatabase();
  database.transaction(() => {
    database.run(
      "INSERT INTO webhook_deliveries (body_digest, delivery_id, received_at) VALUES (?, ?, ?)",
      digest,
      deliveryId,
      Date.now()
    );
    database.run(
      "DELETE FROM webhook_deliveries WHERE sequence <= (SELECT max(sequence) FROM webhook_deliveries) - ?",
      KEPT_DELIVERIES
    );
  });
}

const IN_MEMORY_BYTES = 256 * 1024;
const NAME_BYTES = 10;
async function withIntake(pieces, secrets, folder, use) {
  const hmacs = secrets.map((secret) => createHmac("sha256", secret));
  const digest = createHash("sha256");
  let gathered = new Gathered();
  let file;
  try {
    for await (const piece of pieces) {
      for (const hmac of hmacs) hmac.update(piece);
      digest.update(piece);
      gathered.add(piece);
      if (gathered.bytes.length < IN_MEMORY_BYTES) continue;
      file ??= openNameless(folder);
      writeWhole(file, gathered.bytes);
      gathered = new Gathered();
    }
    const tail = gathered.bytes;
    const read = () => file === void 0 ? tail : Buffer.concat([readWhole(file), tail]);
    return use({ hmacs: hmacs.map((hmac) => hmac.digest("hex")), digest: digest.digest("hex"), read });
  } finally {
    if (file !== void 0) closeSync(file);
  }
}
function openNameless(folder) {
  const path = join(folder, randomHex(NAME_BYTES));
  const file = openSync(path, "wx+", PRIVATE_FILE_MODE);
  unlinkSync(path);
  return file;
}
function writeWhole(file, bytes) {
  for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written);
}
function readWhole(file) {
  const bytes = Buffer.allocUnsafe(fstatSync(file).size);
  for (let at = 0; at < bytes.length; ) {
    const count = readSync(file, bytes, at, bytes.length - at, at);
    if (count === 0) throw new Error("a file of a delivery is shorter than what was written to it");
    at += count;
  }
  return bytes;
}

const Text = z.string().optional().nullable().catch(null);
const NO_COMMIT = /^0+$/;
const MAX_TOLD_COMMITS = 2048;
const MAX_TOLD_FILES = 300;
const MAX_NAMES_CHARACTERS = 512 * 1024;
const Files = z.array(z.string()).max(MAX_TOLD_FILES - 1);
const ToldCommit = z.object({ id: z.string(), added: Files, removed: Files, modified: Files });
const ToldPush = z.object({
  before: z.string().refine((id) => !NO_COMMIT.test(id)),
  forced: z.literal(false).nullish(),
  created: z.literal(false).nullish(),
  commits: z.array(ToldCommit).min(1).max(MAX_TOLD_COMMITS - 1),
  total_commits_count: z.int().nullish(),
  total_commits: z.int().nullish()
});
const Payload = z.object({
  ref: z.string(),
  after: z.string(),
  head_commit: z.object({ message: Text }).nullish().catch(null),
  commits: z.array(z.object({ id: Text, message: Text })).nullish().catch(null),
  repository: z.object({
    full_name: Text,
    clone_url: Text,
    ssh_url: Text,
    git_url: Text,
    html_url: Text,
    url: Text,
    default_branch: Text
  }).nullish().catch(null),
  project: z.object({
    path_with_namespace: Text,
    git_http_url: Text,
    git_ssh_url: Text,
    web_url: Text,
    default_branch: Text
  }).nullish().catch(null)
});
function readPush(payload) {
  const parsed = Payload.safeParse(payload);
  if (!parsed.success)
    throw new AppError("invalid_request", "the payload is not that of a push: it has no ref and after");
  const { ref, after, head_commit, commits, repository, project } = parsed.data;
  if (!ref.startsWith("refs/heads/")) return { ignored: `${ref} is no branch` };
  const branch = ref.slice("refs/heads/".length);
  if (NO_COMMIT.test(after)) return { ignored: `the branch ${branch} was deleted` };
  if (!isFullCommit(after)) throw new AppError("invalid_request", "after: must be a whole commit id");
  const { full_name: name, ...places } = repository ?? {};
  const { path_with_namespace: path, ...projectPlaces } = project ?? {};
  const urls = [...Object.values(places), ...Object.values(projectPlaces)];
  return {
    branch,
    after,
    message: head_commit?.message ?? commits?.find(({ id }) => id === after)?.message ?? "",
    defaultBranch: repository?.default_branch ?? project?.default_branch ?? null,
    repositories: new Set(
      urls.flatMap((url) => url ? [repositoryKey(url)] : []).filter((key) => key !== null)
    ),
    name: name ?? path ?? null,
    files: once(() => filesOf(payload, after))
  };
}
function once(work) {
  let done = null;
  return () => (done ??= { value: work() }).value;
}
function filesOf(payload, after) {
  const told = ToldPush.safeParse(payload);
  if (!told.success) return null;
  const { commits, total_commits_count, total_commits } = told.data;
  const isWhole = commits.length >= (total_commits_count ?? total_commits ?? 0);
  if (!isWhole || !commits.some(({ id }) => id === after)) return null;
  const files = new Set(
    commits.flatMap(({ added, removed, modified }) => [...added, ...removed, ...modified])
  );
  const characters = [...files].reduce((sum, file) => sum + file.length, 0);
  return characters > MAX_NAMES_CHARACTERS ? null : [...files];
}
const SKIP = /\[(?:skip deploy|deploy skip|skip cd|skip ci)\]/i;
function skipPhrase(message) {
  return SKIP.exec(message)?.[0] ?? null;
}

function header(headers, ...names) {
  for (const name of names) {
    const value = headers[name];
    if (typeof value === "string" && value !== "") return value;
  }
  return null;
}
function readProof(secrets, headers) {
  const signature = header(headers, "x-hook-signature-256", "x-hub-signature-256");
  if (signature !== null) {
    const hex = /^sha256=([0-9a-f]{64})$/i.exec(signature)?.[1];
    return hex === void 0 ? null : { kind: "hmac", hex: hex.toLowerCase() };
  }
  const token = header(headers, "x-gitlab-token");
  const of = token === null ? [] : secrets.filter(({ text }) => sameSecret(token, text));
  return of.length === 0 ? null : { kind: "token", of };
}
function provedBy(proof, secrets, hmacs) {
  return proof.kind === "token" ? proof.of : secrets.filter((_, index) => sameSecret(proof.hex, hmacs[index]));
}

const log = logger("hooks");
const DELIVERIES_FOLDER = "deliveries";
async function takeDelivery(headers, receive) {
  const { dataDirectory } = useContext().options;
  const secrets = hookSecrets();
  if (secrets.length === 0)
    throw new AppError(
      "not_found",
      "the push webhook is not enabled: connect an account whose app has one, or set --webhook-secret-file"
    );
  const facts = factsOf(headers);
  const proof = readProof(secrets, headers);
  if (!proof) throw refuse(facts);
  const texts = secrets.map(({ text }) => text);
  return withIntake(receive(), texts, join(dataDirectory, DELIVERIES_FOLDER), (intake) => {
    const [secret] = provedBy(proof, secrets, intake.hmacs);
    if (!secret) throw refuse(facts);
    try {
      const delivered = judge(facts, secret, headers, intake);
      logDelivered(facts, delivered);
      return delivered;
    } catch (error) {
      logDelivery({ ...facts, verdict: "refused", reason: reasonOf(error) });
      throw error;
    }
  });
}
function factsOf(headers) {
  return {
    event: header(headers, "x-hook-event", "x-github-event", "x-gitea-event", "x-gitlab-event"),
    delivery: header(
      headers,
      "x-hook-delivery",
      "x-github-delivery",
      "x-gitea-delivery",
      "x-gitlab-event-uuid"
    ),
    repository: null,
    ref: null,
    commit: null,
    verdict: "ignored",
    reason: null,
    deploys: []
  };
}
function judge(facts, secret, headers, intake) {
  const { event } = facts;
  if (event === "ping") return "pong";
  if (event === "installation" || event === "installation_repositories")
    return noteInstallation(secret.connection, parsePayload(headers, intake.read()));
  if (event !== "push" && event !== "Push Hook")
    return { ignored: `the event ${event ?? "without a name"} is no push` };
  const push = readPush(parsePayload(headers, intake.read()));
  if ("ignored" in push) return push;
  Object.assign(facts, { repository: push.name, ref: `refs/heads/${push.branch}`, commit: push.after });
  if (wasTaken(intake.digest, facts.delivery)) return { ignored: "this delivery was taken before" };
  const delivered = deployPushed(push, secret.connection);
  recordDelivery(intake.digest, facts.delivery);
  return delivered;
}
const InstallationEvent = z.object({
  action: z.string(),
  installation: z.object({ id: z.int() })
});
function noteInstallation(connection, payload) {
  const event = InstallationEvent.safeParse(payload);
  if (!event.success)
    throw new AppError(
      "invalid_request",
      "the payload is not that of an installation: it has no action and installation"
    );
  if (connection === null) return { ignored: "the event is of an app that is none of this server" };
  const { action, installation } = event.data;
  if (action === "deleted" && installation.id === connection.installation_id) {
    void loseInstallation(connection);
    return { ignored: "the app was removed: its connection waits to be authorized again" };
  }
  refreshInstallation(connection.id, installation.id).catch(
    (error) => log.warn("an installation could not be read again", {
      connection: connection.id,
      error: messageOf(error)
    })
  );
  return { ignored: "the connection is read again" };
}
function refuse(facts) {
  const reason = "the signature is missing or wrong";
  logDelivery({ ...facts, verdict: "refused", reason });
  return new AppError("unauthorized", reason);
}
function logDelivered(facts, delivered) {
  if (delivered === "pong") logDelivery({ ...facts, reason: "a ping: the webhook works" });
  else if ("ignored" in delivered) logDelivery({ ...facts, reason: delivered.ignored });
  else {
    const deploys = delivered.deploys.map(({ id }) => id);
    logDelivery({ ...facts, verdict: "deployed", reason: delivered.reason, deploys });
  }
}
function reasonOf(error) {
  return error instanceof AppError ? error.message : "a fault of this server: see its log";
}
function deployPushed(push, connection) {
  const meant = allServices().filter((service) => isMeant(service, push, connection));
  const phrase = skipPhrase(push.message);
  const blueprints = phrase === null ? noteBlueprintPush(push, (url) => mayDeploy(connection, url)) : [];
  if (meant.length === 0 && blueprints.length === 0)
    return { ignored: `no service deploys the branch ${push.branch} of this repository on push` };
  if (phrase !== null) return { ignored: `the commit's message says ${phrase}` };
  const services = meant.filter((service) => isTouched(service, push));
  const reasons = meant.filter((service) => !services.includes(service)).map(({ name }) => `no file that service ${name} watches is touched`);
  const deploys = [];
  let fault;
  for (const service of services) {
    try {
      deploys.push(queueSourceDeploy(service, "webhook", { commit: push.after, branch: push.branch }));
    } catch (error) {
      if (error instanceof AppError) reasons.push(error.message);
      else {
        fault = error;
        log.error("a push could not be deployed", { service: service.id, error: messageOf(error) });
        reasons.push(`service ${service.name} could not be deployed: see the server log`);
      }
    }
  }
  if (deploys.length === 0 && fault) throw fault;
  if (deploys.length === 0 && blueprints.length === 0) return { ignored: reasons.join("; ") };
  if (deploys.length === 0) reasons.unshift(`the blueprint ${blueprints.join(", ")} is looked at`);
  return { deploys, reason: reasons.length > 0 ? reasons.join("; ") : null };
}
function isMeant(service, { branch, defaultBranch, repositories }, connection) {
  if (!service.auto_deploy || service.repo_url === null) return false;
  if ((service.branch ?? defaultBranch) !== branch) return false;
  const key = repositoryKey(service.repo_url);
  return key !== null && repositories.has(key) && mayDeploy(connection, service.repo_url);
}
function isTouched({ watch_paths }, push) {
  if (watch_paths === null) return true;
  const files = push.files();
  return files === null || touches(JSON.parse(watch_paths), files);
}
function parsePayload(headers, body) {
  const text = body.toString("utf8");
  const isForm = /^application\/x-www-form-urlencoded\b/i.test(header(headers, "content-type") ?? "");
  const json = isForm ? new URLSearchParams(text).get("payload") : text;
  try {
    return JSON.parse(json ?? "");
  } catch (cause) {
    throw new AppError("invalid_request", `the payload is not valid JSON: ${messageOf(cause)}`, { cause });
  }
}

const DELIVERY_LIMIT_BYTES = 25 * 1024 * 1024;
const PushAnswer = z.object({
  ok: z.literal(true),
  ignored: z.boolean().optional().meta({ description: "Left out in the answer to a ping", examples: [false] }),
  reason: z.string().nullable().optional().meta({ description: "Why it was ignored", examples: [null] }),
  deploys: z.array(Deploy).optional()
}).meta({ id: "PushAnswer" });
function viewDelivered(delivered) {
  if (delivered === "pong") return { ok: true };
  if ("ignored" in delivered) return { ok: true, ignored: true, reason: delivered.ignored, deploys: [] };
  return { ok: true, ignored: false, reason: delivered.reason, deploys: delivered.deploys.map(viewDeploy) };
}

const endpoint131 = defineEndpoint({
  summary: "Deploy what was pushed (GitHub, Gitea, Forgejo, GitLab)",
  description: "Signed with the webhook secret. A push deploys every service with auto_deploy whose repository and branch match.",
  auth: "none",
  // Providers send JSON or a form, whatever they call it; the signature is over the raw bytes.
  body: { contentType: "*/*", description: "The payload, as JSON or form-encoded; at most 25 MiB" },
  response: PushAnswer,
  errors: ["not_found", "unauthorized", "payload_too_large"],
  handler: async ({ event }) => viewDelivered(
    await takeDelivery(event.node.req.headers, () => receiveFromAnyone(event, DELIVERY_LIMIT_BYTES))
  )
});

export { endpoint131 as default };
