import { randomBytes, createHash } from 'node:crypto';
import { isIP } from 'node:net';
import { b as bareHost } from './bare-host.mjs';
import { q as randomHex, A as AppError, J as useContext } from '../nitro/nitro.mjs';
import { i as isLocalName } from './names.mjs';
import { b as publicUrl } from './public-address.mjs';
import { i as isPublicAddress } from './addresses.mjs';
import { a as apiOf, b as accessToken, n as normalBaseUrl, l as listConnections, i as insertConnection, o as openSecrets, g as gitHubOf, c as placeOf, k as keepApplication, d as getApplication, S as SCOPES, u as updateConnection } from './serving.mjs';
import { f as findConnection, a as assertRoom } from './operations9.mjs';
import { i as isWhole, H as HALF_APPLICATION } from './schema8.mjs';

const LIFETIME_MS = 60 * 6e4;
const MAX_FLOWS = 1e3;
const STATE_BYTES = 20;
const flows = /* @__PURE__ */ new Map();
function beginFlow(flow) {
  for (const [state2, { startedAt }] of flows)
    if (startedAt < performance.now() - LIFETIME_MS || flows.size >= MAX_FLOWS) flows.delete(state2);
  const state = randomHex(STATE_BYTES);
  flows.set(state, { ...flow, startedAt: performance.now() });
  return state;
}
function takeFlow(state) {
  const flow = flows.get(state);
  flows.delete(state);
  return flow && flow.startedAt > performance.now() - LIFETIME_MS ? flow : void 0;
}

const NAME_BYTES = 3;
const MAX_APP_NAME_CHARACTERS = 34;
const VERIFIER_BYTES = 32;
async function authorize(input) {
  const redirect = new URL(input.redirect_uri);
  const isNew = input.connection_id === void 0;
  const connection = isNew ? begin(input) : findConnection(input.connection_id);
  if (!isNew) assertSame(connection, input);
  if (connection.auth === "oauth") return authorizeOAuth(connection, input, redirect, isNew);
  if (connection.auth === "hosted_app") return authorizeApp(connection, redirect);
  await apiOf(connection).ownerOf(await accessToken(connection));
  return connected(connection);
}
function connected(connection) {
  return { status: "connected", method: "get", url: null, fields: {}, connection };
}
function installStep(connection, redirectUri) {
  const state = beginFlow({ connectionId: connection.id, step: "install", redirectUri });
  const url = `${connection.app_url}/installations/new?state=${state}`;
  return { status: "redirect", method: "get", url, fields: {}, connection };
}
function begin(input) {
  const provider = input.provider;
  const base_url = normalBaseUrl(provider, input.base_url ?? null);
  const { organization = null } = input;
  const auth = provider === "gitprov_a" ? "hosted_app" : "oauth";
  if (auth === "oauth") applicationOf({ provider, base_url }, input);
  const left = listConnections().find(
    (row) => row.status === "pending" && row.account === null && row.app_id === null && row.provider === provider && row.base_url === base_url && row.organization === organization
  );
  if (left) return left;
  assertRoom();
  return insertConnection({ provider, auth, status: "pending", base_url, organization });
}
function assertSame(connection, input) {
  const { provider } = connection;
  const isOther = input.provider !== void 0 && input.provider !== provider || input.base_url !== void 0 && normalBaseUrl(provider, input.base_url) !== connection.base_url || input.organization !== void 0 && input.organization !== connection.organization;
  if (isOther)
    throw new AppError(
      "invalid_request",
      "connection_id: is of another provider, base_url or organization: leave these out, or begin a new connection"
    );
}
async function authorizeApp(connection, redirect) {
  const { app_id, installation_id } = connection;
  if (app_id !== null && installation_id === null) return installStep(connection, redirect.href);
  if (app_id !== null && installation_id !== null) {
    const key = { id: app_id, privateKey: openSecrets(connection).private_key };
    const found = await gitHubOf(connection).installation(key, installation_id).catch((error) => {
      if (error instanceof AppError && error.code === "git_authorization_rejected") return void 0;
      throw error;
    });
    if (found === null) return installStep(connection, redirect.href);
    if (found) return connected(connection);
  }
  const { web } = placeOf(connection);
  const state = beginFlow({ connectionId: connection.id, step: "manifest", redirectUri: redirect.href });
  const owner = connection.organization === null ? "" : `/organizations/${connection.organization}`;
  const url = `${web}${owner}/settings/apps/new?state=${state}`;
  const fields = { manifest: JSON.stringify(manifestOf(redirect)) };
  return { status: "redirect", method: "post", url, fields, connection };
}
function manifestOf(redirect) {
  const { dashboardHost } = useContext().options;
  const own = dashboardHost === null ? null : publicUrl(dashboardHost);
  const origin = isOnInternet(redirect.origin) ? redirect.origin : own;
  const name = `Deployer ${redirect.hostname}`.slice(0, MAX_APP_NAME_CHARACTERS - 2 * NAME_BYTES - 1);
  return {
    name: `${name} ${randomHex(NAME_BYTES)}`,
    url: origin ?? redirect.origin,
    redirect_url: redirect.href,
    setup_url: redirect.href,
    setup_on_update: true,
    public: false,
    default_permissions: { contents: "read", metadata: "read", statuses: "write" },
    ...origin !== null && isOnInternet(origin) ? { hook_attributes: { url: `${origin}/hooks/gitprov` }, default_events: ["push"] } : {}
  };
}
function isOnInternet(origin) {
  const host = bareHost(new URL(origin).hostname);
  if (isIP(host) !== 0) return isPublicAddress(host);
  return host.includes(".") && !isLocalName(host);
}
function authorizeOAuth(connection, input, redirect, isNew) {
  if (!isWhole(input)) throw new AppError("invalid_request", `client_id: ${HALF_APPLICATION}`);
  const application = applicationOf(connection, input);
  const wantsOther = input.client_id !== void 0;
  if (!isNew && connection.status === "connected" && !wantsOther)
    return reauthorizeOAuth(connection, redirect);
  return oauthStep(connection, application, redirect);
}
async function reauthorizeOAuth(connection, redirect) {
  try {
    await apiOf(connection).ownerOf(await accessToken(connection));
    return connected(findConnection(connection.id));
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "git_authorization_rejected") throw error;
    return oauthStep(connection, applicationOf(connection, {}), redirect);
  }
}
function oauthStep(connection, { client_id }, redirect) {
  const verifier = randomBytes(VERIFIER_BYTES).toString("base64url");
  const state = beginFlow({
    connectionId: connection.id,
    step: "oauth",
    redirectUri: redirect.href,
    verifier
  });
  const query = new URLSearchParams({
    client_id,
    redirect_uri: redirect.href,
    response_type: "code",
    scope: SCOPES.join(" "),
    state,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256"
  });
  const pending = connection.status === "pending" ? updateConnection(connection.id, { client_id }) : connection;
  const url = `${placeOf(connection).web}/oauth/authorize?${query.toString()}`;
  return { status: "redirect", method: "get", url, fields: {}, connection: pending ?? connection };
}
function applicationOf(connection, { client_id, client_secret }) {
  const { web, title } = placeOf(connection);
  if (client_id !== void 0 && client_secret !== void 0) {
    keepApplication({ base_url: web, client_id, client_secret });
    return { client_id, client_secret };
  }
  const known = getApplication(web);
  if (known) return known;
  throw new AppError(
    "git_application_required",
    `client_id: ${title} needs an OAuth application with the scopes ${SCOPES.join(" and ")}: give its client_id and client_secret`
  );
}

export { authorize as a, installStep as b, connected as c, isOnInternet as i, takeFlow as t };
