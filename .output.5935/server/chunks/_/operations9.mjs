import { A as AppError } from '../nitro/nitro.mjs';
import { e as servicesByConnection, f as deleteConnectionRow, h as forgetTokens, j as getConnection, b as accessToken, a as apiOf, n as normalBaseUrl, u as updateConnection, i as insertConnection, l as listConnections } from './serving.mjs';

const MAX_CONNECTIONS = 100;
function findConnection(id) {
  const found = getConnection(id);
  if (!found) throw new AppError("not_found", `there is no git connection ${id}`);
  return found;
}
function assertRoom() {
  if (listConnections().length >= MAX_CONNECTIONS)
    throw new AppError(
      "conflict",
      `there are ${MAX_CONNECTIONS} git connections: remove one that is not needed`
    );
}
async function connectWithToken(input) {
  const place = {
    provider: input.provider,
    base_url: normalBaseUrl(input.provider, input.base_url ?? null)
  };
  const { token } = input;
  const owner = await apiOf(place).ownerOf(token);
  const known = connectionOf({ ...place, auth: "token", account: owner.account });
  const columns = {
    ...ownerColumns(owner),
    token_hint: token.slice(-4),
    secrets: { token }
  };
  const replaced = known && updateConnection(known.id, columns);
  if (replaced) return { connection: replaced, isNew: false };
  assertRoom();
  const connection = insertConnection({ ...place, auth: "token", status: "connected", ...columns });
  return { connection, isNew: true };
}
function connectionOf({
  provider,
  base_url,
  auth,
  account
}) {
  return listConnections().find(
    (row) => row.provider === provider && row.base_url === base_url && row.auth === auth && row.account?.toLowerCase() === account?.toLowerCase()
  );
}
function ownerColumns({ account, accountName, scopes, expiresAt }) {
  return {
    account,
    account_name: accountName,
    scopes: JSON.stringify(scopes),
    token_expires_at: expiresAt
  };
}
async function repositoriesOf(connection) {
  const token = await accessToken(connection);
  return apiOf(connection).repositories(token, connection.auth === "hosted_app");
}
async function deleteConnection({ id }, force) {
  const services = servicesByConnection().get(id) ?? [];
  if (services.length > 0 && !force) {
    throw new AppError(
      "conflict",
      `the repositories of ${services.join(", ")} are cloned with this connection: repeat with force=true, after which private ones can no longer be cloned`
    );
  }
  deleteConnectionRow(id);
  await forgetTokens(id);
}

export { assertRoom as a, connectWithToken as b, connectionOf as c, deleteConnection as d, findConnection as f, ownerColumns as o, repositoriesOf as r };
