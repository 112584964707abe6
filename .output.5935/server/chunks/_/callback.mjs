import { A as AppError, E as useDatabase } from '../nitro/nitro.mjs';
import { c as connected, t as takeFlow, b as installStep } from './authorize.mjs';
import { l as listConnections, g as gitHubOf, u as updateConnection, h as forgetTokens, d as getApplication, c as placeOf, m as gitLabOf, q as grantedColumns, o as openSecrets, f as deleteConnectionRow } from './serving.mjs';
import { o as ownerColumns, c as connectionOf, f as findConnection } from './operations9.mjs';

async function takeCallback({ state, code, installation_id }) {
  if (state === void 0) {
    if (installation_id === void 0)
      throw new AppError("invalid_request", "state: is needed, or an installation_id");
    return connected(await readAgain(installation_id));
  }
  if (code === void 0 && installation_id === void 0)
    throw new AppError("invalid_request", "code: is needed, or an installation_id");
  const flow = takeFlow(state);
  const connection = flow && listConnections().find(({ id }) => id === flow.connectionId);
  if (!flow || !connection)
    throw new AppError(
      "git_authorization_rejected",
      "the state is unknown, was used, or is more than an hour old: start again from the dashboard"
    );
  if (flow.step === "install") return connected(await install(connection, needed(installation_id)));
  if (flow.step === "manifest") return convert(connection, flow, needed(code));
  return connected(await exchange(connection, flow, needed(code)));
}
async function readAgain(installationId) {
  const apps = listConnections().filter(({ app_id }) => app_id !== null);
  const known = apps.find(({ installation_id }) => installation_id === installationId);
  for (const connection of known ? [known] : apps) {
    const installation = await gitHubOf(connection).installation(keyOf(connection), installationId);
    if (installation) return settleInstallation(connection, installation);
  }
  throw new AppError("not_found", `no app of this server has an installation ${installationId}`);
}
async function refreshInstallation(id, installationId) {
  const connection = findConnection(id);
  if (connection.installation_id !== null && connection.installation_id !== installationId) return;
  const found = await gitHubOf(connection).installation(keyOf(connection), installationId);
  if (found) await settleInstallation(connection, found);
  else await loseInstallation(connection);
}
async function loseInstallation({ id }) {
  updateConnection(id, { status: "pending", installation_id: null, manage_url: null });
  await forgetTokens(id);
}
async function convert(connection, flow, code) {
  const app = await gitHubOf(connection).convertManifest(code);
  const webhookSecret = app.webhook_secret;
  const kept = updateConnection(connection.id, {
    status: "pending",
    app_id: app.id,
    app_slug: app.slug,
    app_url: app.html_url,
    client_id: app.client_id,
    installation_id: null,
    manage_url: null,
    push_events: webhookSecret === null ? 0 : 1,
    secrets: {
      private_key: app.pem,
      client_secret: app.client_secret,
      ...webhookSecret === null ? {} : { webhook_secret: webhookSecret }
    }
  });
  await forgetTokens(connection.id);
  return installStep(stillThere(kept), flow.redirectUri);
}
async function install(connection, installationId) {
  if (connection.app_id === null)
    throw new AppError("invalid_request", "installation_id: there is no app yet");
  const installation = await gitHubOf(connection).installation(keyOf(connection), installationId);
  if (!installation)
    throw new AppError("not_found", `the app ${connection.app_slug} has no installation ${installationId}`);
  return settleInstallation(connection, installation);
}
async function settleInstallation(connection, installation) {
  const settled = settle(connection, {
    status: "connected",
    account: installation.account.login,
    account_name: installation.account.name ?? null,
    installation_id: installation.id,
    manage_url: installation.html_url,
    repository_selection: installation.repository_selection ?? null,
    scopes: JSON.stringify(
      Object.entries(installation.permissions).map(([what, access]) => `${what}:${access}`)
    )
  });
  await forgetTokens(settled.id);
  return settled;
}
async function exchange(connection, flow, code) {
  const application = getApplication(placeOf(connection).web);
  if (!application)
    throw new AppError("git_application_required", "client_id: the OAuth application is unknown");
  const { client_id, client_secret } = application;
  const gitLab = gitLabOf(connection);
  const granted = await gitLab.exchange({
    client_id,
    client_secret,
    code,
    redirect_uri: flow.redirectUri,
    code_verifier: flow.verifier
  });
  const owner = await gitLab.ownerOf(granted.accessToken);
  return settle(connection, {
    ...ownerColumns(owner),
    status: "connected",
    client_id,
    ...grantedColumns({ client_secret }, granted)
  });
}
function settle(connection, columns) {
  return useDatabase().transaction(() => {
    const now = stillThere(listConnections().find(({ id }) => id === connection.id));
    const former = connectionOf({ ...now, account: columns.account ?? null });
    if (!former || former.id === now.id) return stillThere(updateConnection(now.id, columns));
    const { id: _id, created_at: _created, updated_at: _updated, ...begun } = now;
    deleteConnectionRow(now.id);
    return stillThere(updateConnection(former.id, { ...begun, secrets: openSecrets(now), ...columns }));
  });
}
function keyOf(connection) {
  return { id: connection.app_id, privateKey: openSecrets(connection).private_key };
}
function needed(value) {
  if (value !== void 0) return value;
  throw new AppError(
    "git_authorization_rejected",
    "the provider sent something else back than was asked for: start again from the dashboard"
  );
}
function stillThere(connection) {
  if (connection) return connection;
  throw new AppError("git_authorization_rejected", "the git connection was removed meanwhile");
}

export { loseInstallation as l, refreshInstallation as r, takeCallback as t };
