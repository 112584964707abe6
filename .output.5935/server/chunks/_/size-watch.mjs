import { createHash } from 'node:crypto';
import { i as isFullCommit, a as isAbbreviatedCommit, b as isBranchOrTag } from './refs.mjs';
import { B as BuildFailure, w as withReader, d as WATCH_SIZE } from './jobs.mjs';
import { d as Repository, k as isOtherFormat, G as GitError, n as branchNames, l as listRefs } from './branches.mjs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { m as messageOf } from '../nitro/nitro.mjs';

const RECENT_COMMITS = 256;
const ALL_COMMITS = 2147483647;
async function findInHistory({ directory, remote }, references, prefix, idLength) {
  const history = new Repository(join(directory, "history"), remote);
  const found = /* @__PURE__ */ new Set();
  await history.make(idLength);
  try {
    for (const depth of isFullCommit(prefix) ? [RECENT_COMMITS, ALL_COMMITS] : [ALL_COMMITS]) {
      await history.fetch(
        references.map((reference, index) => `+${reference}:refs/deployer/${index}${tail(reference)}`),
        ["--filter=tree:0", `--depth=${depth}`]
      );
      await history.git(["rev-list", "--all"], (line) => {
        if (line.startsWith(prefix)) found.add(line);
      });
      if (found.size > 0) break;
    }
  } catch (error) {
    if (!isOtherFormat(error)) throw error;
  } finally {
    await rm(history.directory, { recursive: true, force: true });
  }
  return [...found];
}
function tail(reference) {
  return reference.endsWith("/*") ? "/*" : "";
}

const NAMED_BRANCHES = 10;
const HISTORY = "refs/deployer/history";
const BRANCHES_AND_TAGS = ["refs/heads/*", "refs/tags/*"];
async function fetchCommit(repository, choice, onLine) {
  const { branch, commit, confined } = choice;
  const place = placeOf(branch);
  if (commit === null) return await fetchBranch(repository, branch, place);
  const isWhole = isFullCommit(commit);
  const { refs, defaultBranch } = isWhole && branch !== null ? NOT_ASKED : await askFor(repository, isWhole ? null : commit);
  const followed = branch ?? defaultBranch;
  const name = isWhole ? void 0 : nameOf(commit, refs, confined);
  if (name !== void 0) return { sha: await fetchReference(repository, name, place), branch: followed };
  const id = commit.toLowerCase();
  if (!isWhole && !isAbbreviatedCommit(commit)) throw missingCommit(repository, commit);
  const idLength = isWhole ? id.length : [...refs.values()][0]?.length ?? 0;
  let sha = id;
  if (confined) sha = await findInBranch(repository, followed, id, idLength, onLine);
  else if (!isWhole) sha = await completeId(repository, id, refs, idLength, onLine);
  return { sha: await fetchObject(repository, sha, place, onLine), branch: followed };
}
function fetchById(repository, sha, onLine) {
  return fetchObject(repository, sha, placeOf(sha), onLine);
}
const NOT_ASKED = { refs: /* @__PURE__ */ new Map(), defaultBranch: null };
function askFor({ remote }, name) {
  return listRefs(remote, name === null ? ["HEAD"] : ["HEAD", ...BRANCHES_AND_TAGS, name]);
}
function placeOf(branch) {
  return createHash("sha256").update(branch ?? "").digest("hex")[0];
}
function nameOf(text, refs, confined) {
  return [text, `refs/tags/${text}`, `refs/heads/${text}`].find(
    (name) => refs.has(name) && (!confined || isBranchOrTag(name))
  );
}
async function fetchBranch(repository, branch, place) {
  const reference = branch === null ? "HEAD" : `refs/heads/${branch}`;
  try {
    return { sha: await fetchReference(repository, reference, place), branch };
  } catch (error) {
    throw isMissingReference(error) ? await missingBranch(repository, branch) : error;
  }
}
async function fetchReference(repository, name, place) {
  return await resolveFetched(repository, await repository.fetchOne(name, place), name);
}
async function fetchObject(repository, object, place, onLine) {
  if (!await repository.takes(object.length)) await makeFor(repository, object);
  try {
    return await resolveFetched(repository, await repository.fetchOne(object, place), object);
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    if (/not our ref/.test(error.messages)) throw missingCommit(repository, object);
    if (!isMissingReference(error) && !/unadvertised object|not valid/i.test(error.messages)) throw error;
    onLine("the remote gives no single commits: fetching its whole history");
    await fetchHistory(repository);
    const sha = await repository.resolve(object);
    if (sha === null || !await isInHistory(repository, sha)) throw missingCommit(repository, object);
    return sha;
  }
}
async function makeFor(repository, object) {
  const { refs } = await listRefs(repository.remote, ["HEAD", ...BRANCHES_AND_TAGS]);
  const [told] = refs.values();
  if (told?.length !== object.length) throw missingCommit(repository, object);
  await repository.make(object.length);
}
async function fetchHistory(repository) {
  const references = BRANCHES_AND_TAGS.map((pattern) => `+${pattern}:${pattern.replace("refs", HISTORY)}`);
  await repository.fetch(references, ["--prune", `--depth=${ALL_COMMITS}`]);
}
async function isInHistory(repository, sha) {
  const refs = await repository.git(["for-each-ref", "--count=1", `--contains=${sha}`, HISTORY]);
  return refs.trim() !== "";
}
function isMissingReference(error) {
  return error instanceof GitError && /no such remote ref|couldn't find remote ref/i.test(error.messages);
}
async function resolveFetched(repository, held, name) {
  const sha = await repository.resolve(held);
  if (sha !== null) return sha;
  await repository.git(["cat-file", "-t", held]);
  const { url } = repository.remote;
  throw new BuildFailure(`${name} of ${url} is not a commit: give one, or a branch or tag`);
}
async function findInBranch(repository, branch, id, idLength, onLine) {
  const reference = branch === null ? "HEAD" : `refs/heads/${branch}`;
  const tips = await listRefs(repository.remote, [reference]);
  if (tips.refs.get(reference) === id) return id;
  const where = branch === null ? "the default branch" : `the branch ${branch}`;
  onLine(`looking for commit ${id} in ${where}`);
  const found = await findInHistory(repository, [reference], id, idLength).catch(async (error) => {
    throw isMissingReference(error) ? await missingBranch(repository, branch) : error;
  });
  const sha = onlyOne(repository, id, found);
  if (sha !== null) return sha;
  throw new BuildFailure(
    `${where} of ${repository.remote.url} does not contain the commit ${id}: a hook deploys what that branch contains, or a branch or tag by its name; other commits are deployed from the dashboard or with an API token`
  );
}
async function completeId(repository, prefix, refs, idLength, onLine) {
  const tips = new Set([...refs.values()].filter((object) => object.startsWith(prefix)));
  const [tip] = tips;
  if (tips.size === 1) return tip;
  onLine(`looking for commit ${prefix} in the history`);
  const found = await findInHistory(repository, BRANCHES_AND_TAGS, prefix, idLength);
  const sha = onlyOne(repository, prefix, found);
  if (sha === null) throw missingCommit(repository, prefix);
  return sha;
}
function onlyOne({ remote }, prefix, [first, ...others]) {
  if (others.length === 0) return first ?? null;
  throw new BuildFailure(`commit ${prefix} is ambiguous in ${remote.url}: give more of its characters`);
}
async function missingBranch({ remote }, branch) {
  const names = branchNames(await listRefs(remote, ["refs/heads/*"]));
  const { url } = remote;
  if (names.length === 0) return new BuildFailure(`${url} is empty: push a commit to it first`);
  const shown = names.slice(0, NAMED_BRANCHES).join(", ") + (names.length > NAMED_BRANCHES ? ", ..." : "");
  if (branch === null) {
    return new BuildFailure(
      `the default branch of ${url} does not exist: set branch to one of its branches (${shown})`
    );
  }
  return new BuildFailure(`${url} has no branch ${branch}: set branch to one of its branches (${shown})`);
}
function missingCommit({ remote }, commit) {
  return new BuildFailure(
    `${remote.url} has no commit ${commit}: push it, or give another commit, branch or tag`
  );
}

const MAX_CHECKOUT_BYTES = 2 * 1024 ** 3;
const MAX_CHECKOUT_FILES = 5e5;
const TOO_LARGE = `the repository takes more than ${MAX_CHECKOUT_BYTES / 1024 ** 3} GiB or ${MAX_CHECKOUT_FILES} files: deploy a smaller one, or upload an archive without what the build does not need`;
const MAX_SUBMODULES = 500;
const TOO_MANY_SUBMODULES = `the repository has more than ${MAX_SUBMODULES} submodules: deploy one with fewer`;
function isTooLarge(bytes, files) {
  return bytes > MAX_CHECKOUT_BYTES || files > MAX_CHECKOUT_FILES;
}

const FIRST_LOOK_MS = 1e3;
class Overfull extends BuildFailure {
  constructor() {
    super(TOO_LARGE);
  }
}
async function withinSize(filling, signal, work) {
  const ending = new AbortController();
  const limited = AbortSignal.any([signal, ending.signal]);
  const watching = watch(filling, limited, (fault) => ending.abort(fault));
  try {
    return await work(limited);
  } finally {
    ending.abort();
    await watching;
  }
}
async function watch(filling, signal, onFault) {
  await setTimeout(FIRST_LOOK_MS, void 0, { signal, ref: false }).catch(() => {
  });
  if (signal.aborted) return;
  try {
    await withReader(signal, (reader) => reader.ask(WATCH_SIZE, filling));
    onFault(new Overfull());
  } catch (error) {
    if (signal.aborted) return;
    onFault(error instanceof BuildFailure ? error : new BuildFailure(messageOf(error), { cause: error }));
  }
}

export { MAX_SUBMODULES as M, Overfull as O, TOO_MANY_SUBMODULES as T, TOO_LARGE as a, fetchById as b, fetchCommit as f, isTooLarge as i, withinSize as w };
