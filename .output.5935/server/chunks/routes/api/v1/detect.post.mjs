import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { U as UPLOAD_LIMIT_BYTES } from '../../../_/archives.mjs';
import { J as useContext, A as AppError, q as randomHex } from '../../../nitro/nitro.mjs';
import { s as servingConnection } from '../../../_/serving.mjs';
import { s as splitCredentials } from '../../../_/url.mjs';
import { S as Slots } from '../../../_/slots.mjs';
import { r as receiveArchive } from '../../../_/archive.mjs';
import { R as RemoteFault, a as checkoutAccess } from '../../../_/branches.mjs';
import { w as withSourceTree, C as CHOOSE_RECIPE, c as checkout } from '../../../_/source-tree.mjs';
import { U as UNPACK_ARCHIVE, B as BuildFailure } from '../../../_/jobs.mjs';
import { z } from 'zod';
import { D as DEPLOYABLE_URL } from '../../../_/input.mjs';
import { c as branchNameFault } from '../../../_/refs.mjs';
import { r as relativePathFault } from '../../../_/rules2.mjs';
import { R as RUNTIMES } from '../../../_/schema5.mjs';
import { S as SERVICE_TYPES } from '../../../_/types.mjs';
import { d as defineEndpoint, a as readJson, b as assertLength, c as receiveStream, g as gatherJson, f as firstByte } from '../../../_/endpoint.mjs';
import { v as validate } from '../../../_/validate.mjs';
import 'node:http';
import 'node:https';
import 'node:events';
import 'node:buffer';
import 'node:fs';
import 'node:crypto';
import 'node:util';
import 'node:net';
import '../../../_/store.mjs';
import '../../../_/qualified-name.mjs';
import '../../../_/store5.mjs';
import 'universal-github-app-jwt';
import 'undici';
import '../../../_/judged.mjs';
import 'node:dns';
import '../../../_/bare-host.mjs';
import '../../../_/addresses.mjs';
import 'node:os';
import '../../../_/version.mjs';
import '../../../_/changes.mjs';
import '../../../_/same-repository.mjs';
import '../../../_/answer-of.mjs';
import 'node:child_process';
import '../../../_/size-watch.mjs';
import 'node:timers/promises';
import 'node:stream';
import '../../../_/schema6.mjs';
import '../../../_/query.mjs';
import '../../../_/states.mjs';
import '../../../_/machine.mjs';
import '../../../_/schema7.mjs';
import '../../../_/states2.mjs';
import '../../../_/send.mjs';
import '../../../_/compression.mjs';
import 'node:zlib';

const NO_SETTINGS = {
  buildCommand: null,
  startCommand: null,
  preDeployCommand: null,
  aptPackages: [],
  processType: "web",
  baseImageRegistry: null,
  cacheScope: "",
  secretNames: [],
  secretsDigest: null
};

const DETECTION_TIMEOUT_MS = 2 * 6e4;
const AT_ONCE = 4;
const NAME_BYTES = 10;
const slots = new Slots(AT_ONCE);
async function detectRepository({ repo_url, branch, ...hints }, signal) {
  const { username, password } = splitCredentials(repo_url);
  const serving = username === null && password === null ? await servingConnection(repo_url) : null;
  return detect(hints, signal, async (directory, reader, limited) => {
    await checkout({
      ...checkoutAccess(repo_url, serving),
      branch: branch ?? null,
      commit: null,
      confined: false,
      usesKeptTrees: true,
      directory,
      reader,
      signal: limited,
      onLine: () => {
      }
    });
  });
}
async function detectArchive(stream, hints, signal) {
  const path = join(useContext().options.dataDirectory, "archives", `${newName()}.tar.gz`);
  try {
    await receiveArchive(stream, path, UPLOAD_LIMIT_BYTES);
    return await detect(hints, signal, async (directory, reader) => {
      await reader.ask(UNPACK_ARCHIVE, { path, directory });
    });
  } finally {
    await rm(path, { force: true });
  }
}
async function detect({ type, runtime, root_dir }, signal, layOut) {
  const timeout = AbortSignal.timeout(DETECTION_TIMEOUT_MS);
  const limited = AbortSignal.any([signal, timeout]);
  const choice = {
    type: type ?? null,
    runtime: runtime ?? "auto",
    dockerfilePath: null,
    publishDirectory: null,
    settings: NO_SETTINGS
  };
  try {
    return await withSourceTree(
      {
        name: newName(),
        rootDir: root_dir ?? null,
        slots,
        signal: limited,
        layOut: (directory, reader) => layOut(directory, reader, limited)
      },
      async (source) => view(await source.ask(CHOOSE_RECIPE, { place: source.place, choice }))
    );
  } catch (error) {
    if (timeout.aborted && !signal.aborted) {
      throw new AppError(
        "invalid_request",
        `the source could not be looked at within ${DETECTION_TIMEOUT_MS / 6e4} minutes: deploy it without detection, or name a smaller one`,
        { cause: error }
      );
    }
    throw explain(error);
  }
}
function newName() {
  return `detect-${randomHex(NAME_BYTES)}`;
}
function explain(error) {
  if (!(error instanceof BuildFailure)) return error;
  const { cause } = error;
  if (!(cause instanceof RemoteFault)) return new AppError("invalid_request", error.message, { cause });
  const code = cause.kind === "refused" ? "git_authorization_rejected" : "git_remote_unreachable";
  return new AppError(code, error.message, { cause });
}
function view(recipe) {
  const { obstacle, notes } = recipe;
  return {
    type: recipe.type,
    runtime: recipe.runtime,
    framework: recipe.framework,
    version: recipe.version,
    package_manager: recipe.packageManager,
    install_command: recipe.installCommand,
    build_command: recipe.buildCommand,
    start_command: recipe.startCommand,
    pre_deploy_command: recipe.preDeployCommand,
    publish_dir: recipe.publishDirectory,
    port: recipe.port,
    health_check_path: recipe.healthCheckPath,
    env: recipe.env.map(({ key, generate, why }) => ({ key, generate: generate !== null, why })),
    apt_packages: recipe.aptPackages,
    root_dirs: recipe.rootDirectories,
    notes: obstacle === null || notes.includes(obstacle) ? notes : [...notes, obstacle]
  };
}

function judged(fault) {
  return z.string().superRefine((text, context) => {
    const found2 = fault(text);
    if (found2) context.addIssue(found2);
  });
}
const hints = {
  root_dir: judged(relativePathFault).optional().meta({ description: "The folder to look at; the root when absent", examples: ["apps/web"] }),
  type: z.enum(SERVICE_TYPES).optional().meta({ description: "What it is to be; found out when absent", examples: ["web_service"] }),
  runtime: z.enum(RUNTIMES).exclude(["image"]).optional().meta({ description: "Skips the looking", examples: ["auto"] })
};
const DetectQuery = z.strictObject(hints);
const DetectInput = z.strictObject({
  repo_url: DEPLOYABLE_URL,
  branch: judged(branchNameFault).optional().meta({ description: "The remote's default branch when absent", examples: ["main"] }),
  ...hints
}).meta({ id: "DetectInput", examples: [{ repo_url: "https://git.example.com/team/api.git" }] });
const found = (description, example) => z.string().nullable().meta({ description, examples: [example] });
const Detection = z.object({
  type: z.enum(SERVICE_TYPES).meta({ description: "The one asked for, else the one that fits", examples: ["web_service"] }),
  runtime: z.enum(RUNTIMES).nullable().meta({ description: "Null when nothing was found; `notes` say why", examples: ["node"] }),
  framework: found("One lower-case word", "express"),
  version: found("The language's", "24"),
  package_manager: found("What installs its packages", "npm"),
  install_command: found("Installs its packages", "npm ci --include=dev"),
  build_command: found("Builds it", "npm run build"),
  start_command: found("Starts it; null for files that the server serves itself", "node dist/server.js"),
  pre_deploy_command: found("Runs once before a new version goes live", null),
  publish_dir: found("The folder of a site, relative to root_dir", null),
  port: z.int().nullable().meta({ description: "Null when nothing sets it: the program is told one", examples: [null] }),
  health_check_path: found("Where it says that it is well", null),
  env: z.array(
    z.object({
      key: z.string().meta({ examples: ["SECRET_KEY_BASE"] }),
      generate: z.boolean().meta({ description: "The first deploy makes the value", examples: [true] }),
      why: z.string().meta({ examples: ["Rails signs cookies with it"] })
    })
  ).meta({ description: "Variables that it wants" }),
  apt_packages: z.array(z.string()).meta({ description: "Debian packages that are installed", examples: [[]] }),
  root_dirs: z.array(z.string()).meta({
    description: "Folders that could be `root_dir`, where the one that was looked at has no program",
    examples: [[]]
  }),
  notes: z.array(z.string()).meta({
    description: "What was chosen and why, and what stands in the way",
    examples: [["node 24 with npm"]]
  })
}).meta({ id: "Detection", description: "What a deploy of a source would do" });

function whenLeft({ node: { res } }) {
  const left = new AbortController();
  res.once("close", () => left.abort(new AppError("canceled", "the client did not wait for the answer")));
  return left.signal;
}

const endpoint50 = defineEndpoint({
  summary: "Find out what a deploy of a source would do",
  description: "Of a repository as JSON, or of an archive as the body with its hints in the query. Says from the files alone, by the function that deploys use, what would be built and started; nothing is built and nothing saved.",
  auth: "token",
  query: DetectQuery,
  body: {
    contentType: "application/gzip",
    description: "A .tar.gz of a source tree, at most 512 MiB; or where a repository is, as JSON",
    json: DetectInput
  },
  response: Detection,
  errors: ["git_remote_unreachable", "git_authorization_rejected", "git_provider_unavailable"],
  async handler({ event, query }) {
    const left = whenLeft(event);
    const type = event.node.req.headers["content-type"];
    if (type !== void 0 && !isBytes(type)) {
      assertNoHints(query);
      return await detectRepository(validate(DetectInput, await readJson(event)), left);
    }
    assertLength(event, UPLOAD_LIMIT_BYTES);
    const body = receiveStream(event, UPLOAD_LIMIT_BYTES);
    try {
      if (type !== void 0 || await isGzip(body)) return await detectArchive(body, query, left);
      assertNoHints(query);
      return await detectRepository(validate(DetectInput, await gatherJson(body)), left);
    } finally {
      body.destroy();
    }
  }
});
function isBytes(contentType) {
  return /^application\/(x-)?(gzip|octet-stream)\b/i.test(contentType);
}
async function isGzip(body) {
  return await firstByte(body) === 31;
}
function assertNoHints(query) {
  const [hint] = Object.keys(query);
  if (hint !== void 0)
    throw new AppError("invalid_request", `${hint}: stands in the body when that is JSON`);
}

export { endpoint50 as default };
