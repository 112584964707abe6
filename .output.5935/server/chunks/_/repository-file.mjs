import { join } from 'node:path';
import { J as useContext, q as randomHex, A as AppError } from '../nitro/nitro.mjs';
import { s as servingConnection } from './serving.mjs';
import { s as splitCredentials } from './url.mjs';
import { S as Slots } from './slots.mjs';
import { B as BuildFailure } from './jobs.mjs';
import { b as remoteAccess, w as withRemote, R as RemoteFault, c as clearTree, d as Repository, l as listRefs } from './branches.mjs';
import { w as withinSize, f as fetchCommit } from './size-watch.mjs';

function plainPath(path) {
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  return parts.length === 0 ? "." : parts.join("/");
}

const MAX_YAML_BYTES = 2 * 1024 * 1024;
new Set("\n\r,[]{}-?:");
new Set("-?:");

const USUAL_PATHS = ["deployer.yaml", "render.yaml"];
const TIMEOUT_MS = 12e4;
const READS_AT_ONCE = 2;
const NAME_BYTES = 10;
const slots = new Slots(READS_AT_ONCE);
function readRepositoryFile(choice) {
  return slots.run(() => read(choice));
}
async function read(choice) {
  const { options, stopping } = useContext();
  const directory = join(options.dataDirectory, "checkouts", `blueprint-${randomHex(NAME_BYTES)}`);
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  const signal = AbortSignal.any([timeout, stopping]);
  const { url, username, password } = splitCredentials(choice.url);
  const serving = username === null && password === null ? await servingConnection(url) : null;
  const access = { ...remoteAccess(choice.url), credentials: serving?.credentials ?? null };
  const find = async (remote) => {
    const repository = new Repository(directory, remote);
    await repository.make();
    const { sha, branch } = await fetchCommit(repository, choice, () => {
    });
    const paths = choice.path === null ? USUAL_PATHS : [plainPath(choice.path)];
    const followed = branch ?? (await listRefs(remote, ["HEAD"])).defaultBranch;
    return { ...await findFile(repository, sha, paths), branch: followed, commit: sha };
  };
  try {
    return await withinSize(
      { directory, beside: { bytes: 0, files: 0 } },
      signal,
      (limited) => withRemote(access, limited, find)
    );
  } catch (error) {
    if (timeout.aborted)
      throw new AppError("git_remote_unreachable", `reading ${url} took longer than ${TIMEOUT_MS / 1e3} s`);
    if (error instanceof BuildFailure) throw new AppError("invalid_request", error.message, { cause: error });
    if (!(error instanceof RemoteFault)) throw error;
    const code = error.kind === "refused" ? "git_authorization_rejected" : "git_remote_unreachable";
    throw new AppError(code, error.message, { cause: error });
  } finally {
    await clearTree(directory);
  }
}
async function findFile(repository, sha, paths) {
  for (const path of paths) {
    const listed = await repository.git(["ls-tree", "-l", "-z", "--full-tree", sha, "--", path]);
    const [, mode, size] = /^(\d+) blob [0-9a-f]+ +(\d+)\t/.exec(listed) ?? [];
    if (mode === void 0) continue;
    if (!mode.startsWith("100")) throw new AppError("invalid_request", `path: ${path} is a link, not a file`);
    if (Number(size) > MAX_YAML_BYTES)
      throw new AppError(
        "payload_too_large",
        `${path} is larger than the ${MAX_YAML_BYTES / 1024 ** 2} MiB allowed here`
      );
    return { path, yaml: await repository.git(["cat-file", "blob", `${sha}:${path}`]) };
  }
  throw new AppError(
    "invalid_request",
    `path: ${repository.remote.url} has no file ${paths.join(" or ")} at commit ${sha.slice(0, 12)}`
  );
}

export { readRepositoryFile as r };
