import { l as listEnvironments } from './store.mjs';
import { A as AppError, m as messageOf, V as createFetch, I as timestamp, E as useDatabase, F as newId, J as useContext, X as createStorage, l as logger } from '../nitro/nitro.mjs';
import { q as qualifiedName } from './qualified-name.mjs';
import { b as allServices } from './store5.mjs';
import appJwt from 'universal-github-app-jwt';
import { z } from 'zod';
import { Headers, fetch, Agent, buildConnector } from 'undici';
import { p as portOf } from './input.mjs';
import { F as ForbiddenPlace, a as assertPlace, o as ownReach, j as judgedLookup } from './judged.mjs';
import { V as VERSION$1 } from './version.mjs';
import { t as tell } from './changes.mjs';
import { r as repositoryKey } from './same-repository.mjs';

const ProviderText = z.string().max(1e3);
const WebAddress = ProviderText.regex(/^https?:\/\//i);
const PAGE = 100;
const MAX_PAGES = 10;
function byUpdate(left, right) {
  return Date.parse(right.updated_at ?? "") - Date.parse(left.updated_at ?? "") || 0;
}

function parsedJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return void 0;
  }
}

const ANSWER_MS = 1e4;
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;
const MAX_REDIRECTS = 3;
const agent = new Agent({
  connect: (options, callback) => {
    const port = Number(options.port) || (options.protocol === "https:" ? 443 : 80);
    buildConnector({ lookup: judgedLookup(port, ownReach()), timeout: ANSWER_MS })(options, callback);
  }
});
const request = createFetch({
  fetch: ((url, options) => fetch(url, { ...options, dispatcher: agent })),
  Headers,
  AbortController
});
async function ask(place, url, question = {}) {
  const signal = AbortSignal.timeout(ANSWER_MS);
  try {
    const answer = await follow(place, url, question, signal);
    return judge(place, answer);
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    const forbidden = forbiddenIn(cause);
    if (forbidden) throw unavailable(place, `may not be asked: ${forbidden.message}`, cause);
    if (signal.aborted)
      throw unavailable(place, `did not answer within ${ANSWER_MS / 1e3} s: try again`, cause);
    throw unavailable(place, `cannot be reached: check its address and try again`, cause);
  }
}
async function follow(place, url, question, signal) {
  let at = new URL(url);
  for (let redirects = 0; ; redirects++) {
    const answer = await send(at, question, signal);
    if (answer.status < 300 || answer.status >= 400) return answer;
    const next = URL.parse(answer.headers.get("location") ?? "", at);
    if (!next || !mayFollow(at, next) || question.method === "POST")
      throw unavailable(place, `leads to another address (${next?.host ?? "none"}), which is not followed`);
    if (redirects === MAX_REDIRECTS) throw unavailable(place, "leads in a circle");
    at = next;
  }
}
function mayFollow(from, to) {
  const isUpgrade = from.protocol === "http:" && to.protocol === "https:" && from.port + to.port === "";
  return to.origin === from.origin || isUpgrade && to.hostname === from.hostname;
}
async function send(url, question, signal) {
  assertPlace(url.hostname, portOf(url), ownReach());
  const options = {
    method: question.method ?? "GET",
    headers: { accept: "application/json", "user-agent": `deployer/${VERSION$1}`, ...question.headers },
    ...question.query ? { query: question.query } : {},
    ...question.body ? { body: question.body } : {},
    ...question.form ? { body: new URLSearchParams(question.form) } : {},
    responseType: "stream",
    redirect: "manual",
    ignoreResponseError: true,
    retry: 0,
    signal
  };
  const response = await request.raw(url.href, options);
  const text = await readBounded(response.body);
  return { status: response.status, text, headers: response.headers };
}
async function readBounded(stream) {
  if (stream === null) return "";
  const pieces = [];
  let size = 0;
  for await (const piece of stream) {
    size += piece.length;
    if (size > MAX_ANSWER_BYTES) throw new Error(`its answer is larger than ${MAX_ANSWER_BYTES} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}
function judge(place, { status, text, headers }) {
  const isExhausted = status === 403 && headers.get("x-ratelimit-remaining") === "0";
  if (status === 429 || isExhausted)
    throw unavailable(place, "answers no more questions for now: try again later");
  if (status >= 500) throw unavailable(place, `answered ${status}: try again later`);
  const body = text === "" ? null : parsedJson(text);
  if (status === 401 || status === 403)
    throw new AppError(
      "git_authorization_rejected",
      `${place.title} refused: ${saidBy(body) ?? `it answered ${status}`}`
    );
  if (body === void 0) throw unavailable(place, `answered ${status} without JSON: is this its address?`);
  return { status, body, headers };
}
const MAX_SAID_CHARACTERS = 200;
function saidBy(body) {
  if (typeof body !== "object" || body === null) return null;
  const { message, error_description, error } = body;
  const said = [message, error_description, error].find(
    (text) => typeof text === "string" && text !== ""
  );
  return said === void 0 ? null : said.replaceAll(/\p{Cc}+/gu, " ").slice(0, MAX_SAID_CHARACTERS);
}
function rejected(place, { status, body }, what) {
  return new AppError(
    "git_authorization_rejected",
    `${place.title} ${what}: ${saidBy(body) ?? `it answered ${status}`}`
  );
}
function readAnswer(place, schema, answer, fault) {
  if (answer.status >= 400) throw rejected(place, answer, fault);
  const parsed = schema.safeParse(answer.body);
  if (!parsed.success) throw unavailable(place, `${fault}: its answer has another shape`, parsed.error);
  return parsed.data;
}
function unavailable(place, what, cause) {
  return new AppError("git_provider_unavailable", `${place.title} ${what}`, {
    cause: cause === void 0 ? void 0 : messageOf(cause)
  });
}
function forbiddenIn(error) {
  for (let at = error; at instanceof Error; at = at.cause)
    if (at instanceof ForbiddenPlace) return at;
  return null;
}

const VERSION = "2022-11-28";
const MAX_DESCRIPTION_CHARACTERS$1 = 140;
const User$1 = z.object({ login: ProviderText, name: ProviderText.nullish() });
const Repositories = z.array(
  z.object({
    id: z.int(),
    name: z.string(),
    full_name: z.string(),
    owner: z.object({ login: z.string() }),
    description: z.string().nullish(),
    default_branch: z.string().nullish(),
    clone_url: WebAddress,
    html_url: WebAddress,
    private: z.boolean(),
    archived: z.boolean().default(false),
    updated_at: z.string().nullish()
  })
);
const InstallationRepositories = z.object({ repositories: Repositories });
const App = z.object({
  id: z.int(),
  slug: ProviderText,
  html_url: WebAddress,
  client_id: z.string(),
  client_secret: z.string(),
  // With an empty one anybody could sign.
  webhook_secret: z.string().nullish().transform((text) => text || null),
  pem: z.string()
});
const Installation = z.object({
  id: z.int(),
  html_url: WebAddress,
  account: z.object({ login: ProviderText, name: ProviderText.nullish() }),
  repository_selection: z.string().nullish(),
  permissions: z.record(z.string(), z.string()).default({})
});
const InstallationToken = z.object({ token: z.string(), expires_at: z.string() });
class GitHub {
  gitUser = "x-access-token";
  #place;
  constructor(place) {
    this.#place = place;
  }
  async ownerOf(token) {
    const answer = await this.#ask("/user", { headers: bearer$1(token) });
    const { login, name } = readAnswer(this.#place, User$1, answer, "does not say whose the token is");
    const scopes = answer.headers.get("x-oauth-scopes") ?? "";
    const expiry = Date.parse(
      (answer.headers.get("github-authentication-token-expiration") ?? "").replace(" UTC", "Z").replace(" ", "T")
    );
    return {
      account: login,
      accountName: name ?? null,
      scopes: scopes.split(",").flatMap((scope) => scope.trim() === "" ? [] : [scope.trim()]),
      expiresAt: Number.isNaN(expiry) ? null : expiry
    };
  }
  async repositories(token, ofInstallation) {
    const found = [];
    for (let page = 1; ; page++) {
      const path = ofInstallation ? "/installation/repositories" : "/user/repos";
      const query = { per_page: PAGE, page, ...ofInstallation ? {} : { sort: "updated" } };
      const answer = await this.#ask(path, { headers: bearer$1(token), query });
      const fault = "did not list the repositories";
      const listed = ofInstallation ? readAnswer(this.#place, InstallationRepositories, answer, fault).repositories : readAnswer(this.#place, Repositories, answer, fault);
      found.push(...listed.map(viewRepository));
      const hasMore = /;\s*rel="next"/.test(answer.headers.get("link") ?? "");
      if (!hasMore || page === MAX_PAGES) return { repositories: found.sort(byUpdate), truncated: hasMore };
    }
  }
  async canRead(token, path) {
    return (await this.#ask(`/repos/${escapePath(path)}`, { headers: bearer$1(token) })).status === 200;
  }
  async tellStatus(token, path, sha, { state, context, description, url }) {
    const answer = await this.#ask(`/repos/${escapePath(path)}/statuses/${sha}`, {
      method: "POST",
      headers: bearer$1(token),
      body: {
        state: STATES$1[state],
        context,
        description: description.slice(0, MAX_DESCRIPTION_CHARACTERS$1),
        ...url === null ? {} : { target_url: url }
      }
    });
    if (answer.status !== 201) throw rejected(this.#place, answer, "took no status");
  }
  /** Exchanges the code of a manifest for the app that it made; the code works once. */
  async convertManifest(code) {
    const answer = await this.#ask(`/app-manifests/${encodeURIComponent(code)}/conversions`, {
      method: "POST"
    });
    return readAnswer(this.#place, App, answer, "did not make the app");
  }
  /** An installation of an app; null when there is none, or the app itself is gone. */
  async installation(key, id) {
    const answer = await this.#ask(`/app/installations/${id}`, { headers: bearer$1(await signIn(key)) });
    return answer.status === 404 ? null : readAnswer(this.#place, Installation, answer, "did not show the installation");
  }
  /** A token of about an hour for what an installation may read. */
  async installationToken(key, id) {
    const answer = await this.#ask(`/app/installations/${id}/access_tokens`, {
      method: "POST",
      headers: bearer$1(await signIn(key))
    });
    if (answer.status === 404)
      throw rejected(this.#place, answer, "no longer has this installation: authorize the connection again");
    const { token, expires_at } = readAnswer(this.#place, InstallationToken, answer, "gave no token");
    return { token, expiresAt: Date.parse(expires_at) };
  }
  #ask(path, question) {
    const headers = { accept: "application/vnd.github+json", "x-github-api-version": VERSION };
    return ask(this.#place, this.#place.api + path, {
      ...question,
      headers: { ...headers, ...question.headers }
    });
  }
}
const STATES$1 = {
  pending: "pending",
  success: "success",
  failure: "failure",
  canceled: "error"
};
async function signIn({ id, privateKey }) {
  return (await appJwt({ id, privateKey })).token;
}
function bearer$1(token) {
  return { authorization: `Bearer ${token}` };
}
function escapePath(path) {
  return path.split("/").map(encodeURIComponent).join("/");
}
function viewRepository(repository) {
  const moment = Date.parse(repository.updated_at ?? "");
  return {
    id: String(repository.id),
    name: repository.name,
    full_name: repository.full_name,
    owner: repository.owner.login,
    description: repository.description ?? null,
    default_branch: repository.default_branch ?? null,
    clone_url: repository.clone_url,
    web_url: repository.html_url,
    private: repository.private,
    archived: repository.archived,
    updated_at: Number.isNaN(moment) ? null : timestamp(moment)
  };
}

const MAX_DESCRIPTION_CHARACTERS = 255;
const SCOPES = ["read_api", "read_repository"];
const User = z.object({ username: ProviderText, name: ProviderText.nullish() });
const TokenFacts = z.object({ scopes: z.array(z.string()).default([]), expires_at: z.string().nullish() });
const Projects = z.array(
  z.object({
    id: z.int(),
    path: z.string(),
    path_with_namespace: z.string(),
    namespace: z.object({ full_path: z.string() }),
    description: z.string().nullish(),
    default_branch: z.string().nullish(),
    http_url_to_repo: WebAddress,
    web_url: WebAddress,
    visibility: z.string().default("private"),
    archived: z.boolean().default(false),
    last_activity_at: z.string().nullish()
  })
);
const USUAL_LIFETIME_SECONDS = 7200;
const MAX_LIFETIME_SECONDS = 400 * 24 * 3600;
const Grant = z.object({
  access_token: z.string(),
  refresh_token: z.string(),
  // The refresh token is spent: whatever stands here, what was granted has to be kept, and the column takes integers.
  expires_in: z.number().positive().max(MAX_LIFETIME_SECONDS).transform(Math.floor).catch(USUAL_LIFETIME_SECONDS),
  scope: z.string().nullish()
});
class GitLab {
  gitUser = "oauth2";
  #place;
  constructor(place) {
    this.#place = place;
  }
  async ownerOf(token) {
    const user = await this.#api("/user", { headers: bearer(token) });
    const { username, name } = readAnswer(this.#place, User, user, "does not say whose the token is");
    const facts = await this.#api("/personal_access_tokens/self", { headers: bearer(token) }).catch(
      () => null
    );
    const parsed = facts?.status === 200 ? TokenFacts.safeParse(facts.body) : null;
    const expiry = Date.parse(parsed?.data?.expires_at ?? "");
    return {
      account: username,
      accountName: name ?? null,
      scopes: parsed?.data?.scopes ?? [],
      expiresAt: Number.isNaN(expiry) ? null : expiry
    };
  }
  async repositories(token) {
    const found = [];
    for (let page = 1; ; page++) {
      const answer = await this.#api("/projects", {
        headers: bearer(token),
        query: { membership: "true", order_by: "last_activity_at", sort: "desc", per_page: PAGE, page }
      });
      found.push(...readAnswer(this.#place, Projects, answer, "did not list the projects").map(viewProject));
      const hasMore = (answer.headers.get("x-next-page") ?? "") !== "";
      if (!hasMore || page === MAX_PAGES) return { repositories: found.sort(byUpdate), truncated: hasMore };
    }
  }
  async canRead(token, path) {
    const answer = await this.#api(`/projects/${encodeURIComponent(path)}`, { headers: bearer(token) });
    return answer.status === 200;
  }
  async tellStatus(token, path, sha, { state, context, description, url }) {
    const answer = await this.#api(`/projects/${encodeURIComponent(path)}/statuses/${sha}`, {
      method: "POST",
      headers: bearer(token),
      body: {
        state: STATES[state],
        name: context,
        description: description.slice(0, MAX_DESCRIPTION_CHARACTERS),
        ...url === null ? {} : { target_url: url }
      }
    });
    if (answer.status !== 201) throw rejected(this.#place, answer, "took no status");
  }
  /** Exchanges the code of an authorization (RFC 6749 section 4.1.3, RFC 7636 section 4.5). */
  exchange(form) {
    return this.#grant({ grant_type: "authorization_code", ...form });
  }
  /** Renews an authorization; the refresh token that is used ends with it. */
  refresh(form) {
    return this.#grant({ grant_type: "refresh_token", ...form });
  }
  async #grant(form) {
    const asked = Date.now();
    const answer = await ask(this.#place, `${this.#place.web}/oauth/token`, { method: "POST", form });
    const granted = readAnswer(this.#place, Grant, answer, "granted no access");
    return {
      accessToken: granted.access_token,
      refreshToken: granted.refresh_token,
      expiresAt: asked + granted.expires_in * 1e3,
      scopes: granted.scope?.split(" ") ?? SCOPES
    };
  }
  #api(path, question) {
    return ask(this.#place, this.#place.api + path, question);
  }
}
const STATES = {
  pending: "running",
  success: "success",
  failure: "failed",
  canceled: "canceled"
};
function bearer(token) {
  return { authorization: `Bearer ${token}` };
}
function viewProject(project) {
  const moment = Date.parse(project.last_activity_at ?? "");
  return {
    id: String(project.id),
    name: project.path,
    full_name: project.path_with_namespace,
    owner: project.namespace.full_path,
    description: project.description ?? null,
    default_branch: project.default_branch ?? null,
    clone_url: project.http_url_to_repo,
    web_url: project.web_url,
    private: project.visibility !== "public",
    archived: project.archived,
    updated_at: Number.isNaN(moment) ? null : timestamp(moment)
  };
}

const OWN = {
  gitprov_a: {
    name: "GitHub",
    web: "https://github.com",
    api: "https://api.github.com",
    apiPath: "/api/v3"
  },
  gitprov_b: {
    name: "GitLab",
    web: "https://gitlab.com",
    api: "https://gitlab.com/api/v4",
    apiPath: "/api/v4"
  }
};
function placeOf({ provider, base_url }) {
  const own = OWN[provider];
  if (base_url === null) return { provider, title: own.name, web: own.web, api: own.api };
  return {
    provider,
    title: `${own.name} at ${new URL(base_url).host}`,
    web: base_url,
    api: base_url + own.apiPath
  };
}
function normalBaseUrl(provider, baseUrl) {
  return baseUrl === OWN[provider].web ? null : baseUrl;
}
function pathAt({ web }, repositoryUrl) {
  const url = URL.parse(repositoryUrl);
  const base = new URL(web);
  if (url === null || url.origin !== base.origin) return null;
  const root = base.pathname === "/" ? "" : base.pathname;
  if (!url.pathname.startsWith(`${root}/`)) return null;
  const path = url.pathname.slice(root.length).split("/").filter((part) => part !== "").join("/").replace(/\.git$/i, "");
  return path.includes("/") ? decodeURIComponent(path) : null;
}

function apiOf(connection) {
  return connection.provider === "gitprov_a" ? gitHubOf(connection) : gitLabOf(connection);
}
function gitHubOf(connection) {
  return new GitHub(placeOf(connection));
}
function gitLabOf(connection) {
  return new GitLab(placeOf(connection));
}

function listConnections() {
  return useDatabase().all("SELECT * FROM git_connections ORDER BY created_at, id");
}
function getConnection(id) {
  return useDatabase().get("SELECT * FROM git_connections WHERE id = ?", id);
}
function insertConnection(columns) {
  const id = newId("gitConnection");
  const now = Date.now();
  const row = { id, ...sealed(columns), created_at: now, updated_at: now };
  const names = Object.keys(row);
  useDatabase().run(
    `INSERT INTO git_connections (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`,
    ...Object.values(row)
  );
  tellConnection(id, "created");
  return getConnection(id);
}
function updateConnection(id, columns) {
  const row = { ...sealed(columns), updated_at: Date.now() };
  const assignments = Object.keys(row).map((name) => `${name} = ?`);
  const changed = useDatabase().run(
    `UPDATE git_connections SET ${assignments.join(", ")} WHERE id = ?`,
    ...Object.values(row),
    id
  );
  if (changed > 0) tellConnection(id, "updated");
  return getConnection(id);
}
function deleteConnectionRow(id) {
  if (useDatabase().run("DELETE FROM git_connections WHERE id = ?", id) > 0) tellConnection(id, "deleted");
}
function openSecrets({ secrets }) {
  return secrets === null ? {} : JSON.parse(useContext().vault.open(secrets));
}
function getApplication(baseUrl) {
  const row = useDatabase().get(
    "SELECT * FROM git_applications WHERE base_url = ?",
    baseUrl
  );
  return row && { ...row, client_secret: useContext().vault.open(row.client_secret) };
}
function keepApplication({ base_url, client_id, client_secret }) {
  useDatabase().run(
    "INSERT OR REPLACE INTO git_applications (base_url, client_id, client_secret) VALUES (?, ?, ?)",
    base_url,
    client_id,
    useContext().vault.seal(client_secret)
  );
}
function readersOfRepositories() {
  const rows = useDatabase().all("SELECT * FROM git_readers");
  return new Map(rows.map(({ repository, connection_id }) => [repository, connection_id]));
}
function keepReader(repository, connectionId) {
  if (connectionId === null) useDatabase().run("DELETE FROM git_readers WHERE repository = ?", repository);
  else
    useDatabase().run(
      "INSERT OR REPLACE INTO git_readers (repository, connection_id) SELECT ?, id FROM git_connections WHERE id = ?",
      repository,
      connectionId
    );
}
function sealed({ secrets, ...columns }) {
  if (secrets === void 0) return columns;
  return { ...columns, secrets: useContext().vault.seal(JSON.stringify(secrets)) };
}
function tellConnection(id, action) {
  tell({ kind: "git_connection", id, service_id: null, action });
}

const log$1 = logger("git");
const RENEW_BEFORE_MS = 5 * 6e4;
const minted = createStorage();
const asking = /* @__PURE__ */ new Map();
async function accessToken(connection) {
  if (connection.status !== "connected") throw unfinished(connection);
  if (connection.auth === "token") return openSecrets(connection).token;
  const current = await currentToken(connection);
  if (current !== null) return current;
  const running = asking.get(connection.id);
  if (running) return running;
  const renewed = (connection.auth === "oauth" ? refresh : mint)(connection).finally(
    () => asking.delete(connection.id)
  );
  asking.set(connection.id, renewed);
  return renewed;
}
async function forgetTokens(connectionId) {
  await minted.removeItem(connectionId);
}
function grantedColumns(secrets, granted) {
  return {
    token_expires_at: granted.expiresAt,
    scopes: JSON.stringify(granted.scopes),
    secrets: {
      ...secrets,
      access_token: granted.accessToken,
      refresh_token: granted.refreshToken,
      ...secrets.refresh_token === void 0 ? {} : { former_refresh_token: secrets.refresh_token }
    }
  };
}
async function currentToken(connection) {
  const latest = Date.now() + RENEW_BEFORE_MS;
  if (connection.auth === "oauth")
    return (connection.token_expires_at ?? 0) > latest ? openSecrets(connection).access_token : null;
  const kept = await minted.getItem(connection.id);
  return kept !== null && kept.expiresAt > latest ? kept.token : null;
}
async function mint(connection) {
  if (connection.app_id === null || connection.installation_id === null) throw unfinished(connection);
  const key = { id: connection.app_id, privateKey: openSecrets(connection).private_key };
  const made = await gitHubOf(connection).installationToken(key, connection.installation_id);
  if (getConnection(connection.id)?.installation_id === connection.installation_id)
    await minted.setItem(connection.id, made);
  return made.token;
}
async function refresh({ id }) {
  const connection = getConnection(id);
  if (!connection) throw new AppError("git_authorization_rejected", "the git connection was removed");
  const current = await currentToken(connection);
  if (current !== null) return current;
  const secrets = openSecrets(connection);
  const application = { client_id: connection.client_id, client_secret: secrets.client_secret };
  const candidates = [secrets.refresh_token, secrets.former_refresh_token].filter(
    (text) => text !== void 0
  );
  let refusal;
  for (const refresh_token of candidates) {
    try {
      const granted = await gitLabOf(connection).refresh({ ...application, refresh_token });
      updateConnection(id, grantedColumns({ ...secrets, refresh_token }, granted));
      return granted.accessToken;
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "git_authorization_rejected") throw error;
      refusal = error;
    }
  }
  log$1.warn("an authorization could not be renewed", { connection: id, error: messageOf(refusal) });
  throw new AppError(
    "git_authorization_rejected",
    `the authorization of ${connection.account} has ended: authorize the connection again`,
    { cause: refusal }
  );
}
function unfinished({ account }) {
  const whose = account === null ? "this git connection" : `the git connection of ${account}`;
  return new AppError("git_authorization_rejected", `${whose} is not finished: authorize it in the dashboard`);
}

const log = logger("git");
async function servingConnection(url) {
  const candidates = candidatesFor(url);
  const owner = candidates.find(isOwner);
  if (owner) return { ...owner, credentials: await credentialsOf(owner) };
  const key = repositoryKey(url);
  for (const candidate of candidates) {
    const credentials = await readingWith(candidate);
    if (credentials === null) continue;
    if (key !== null) keepReader(key, candidate.connection.id);
    return { ...candidate, credentials };
  }
  if (key !== null && candidates.length > 0) keepReader(key, null);
  return null;
}
function servicesByConnection() {
  const readers = readersOfRepositories();
  const environments = new Map(listEnvironments().map((environment) => [environment.id, environment]));
  const served = /* @__PURE__ */ new Map();
  for (const service of allServices()) {
    const id = knownConnectionOf(service, readers);
    if (id === null) continue;
    const name = qualifiedName(service.name, environments.get(service.environment_id));
    served.set(id, [...served.get(id) ?? [], name]);
  }
  return served;
}
function knownConnectionOf(service, readers) {
  if (service.repo_url === null || service.repo_credentials !== null) return null;
  const candidates = candidatesFor(service.repo_url);
  const owner = candidates.find(isOwner);
  if (owner) return owner.connection.id;
  const reader = readers.get(repositoryKey(service.repo_url) ?? "");
  return candidates.find(({ connection }) => connection.id === reader)?.connection.id ?? null;
}
function candidatesFor(url) {
  return listConnections().reverse().flatMap((connection) => {
    const path = connection.status === "connected" ? pathAt(placeOf(connection), url) : null;
    return path === null ? [] : [{ connection, path }];
  });
}
function isOwner({ connection: { account }, path }) {
  return account !== null && path.toLowerCase().startsWith(`${account.toLowerCase()}/`);
}
async function credentialsOf(candidate) {
  const { connection, path } = candidate;
  const { web } = placeOf(connection);
  const owner = `${web}/${path.split("/", 1)[0]}`;
  const places = isOwner(candidate) ? { place: web, own: owner } : { place: owner };
  return { username: apiOf(connection).gitUser, password: await accessToken(connection), ...places };
}
async function readingWith(candidate) {
  const { connection, path } = candidate;
  try {
    const credentials = await credentialsOf(candidate);
    return await apiOf(connection).canRead(credentials.password, path) ? credentials : null;
  } catch (error) {
    log.info("a git connection was passed over", { connection: connection.id, error: messageOf(error) });
    return null;
  }
}

export { SCOPES as S, apiOf as a, accessToken as b, placeOf as c, getApplication as d, servicesByConnection as e, deleteConnectionRow as f, gitHubOf as g, forgetTokens as h, insertConnection as i, getConnection as j, keepApplication as k, listConnections as l, gitLabOf as m, normalBaseUrl as n, openSecrets as o, parsedJson as p, grantedColumns as q, pathAt as r, servingConnection as s, updateConnection as u };
