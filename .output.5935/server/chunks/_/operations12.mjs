import { A as AppError, m as messageOf, F as newId } from '../nitro/nitro.mjs';
import { e as removeUploaded, g as assembleChain, w as writeUploaded } from './index.mjs';
import { once } from 'node:events';
import { duplexPair } from 'node:stream';
import { e as deleteUploadedRow, f as getUploaded, h as insertUploaded, t as tellCertified, r as routedHosts } from './hosts2.mjs';

const HANDSHAKE_MS = 5e3;
async function assertShown({ chain, key }) {
  const { connect, createSecureContext, TLSSocket } = await import('node:tls');
  const [ours, theirs] = duplexPair();
  try {
    const secureContext = createSecureContext({ cert: chain, key });
    const server = new TLSSocket(ours, { isServer: true, secureContext });
    const client = connect({ socket: theirs, rejectUnauthorized: false });
    for (const side of [server, client]) side.on("error", () => {
    });
    await once(client, "secureConnect", { signal: AbortSignal.timeout(HANDSHAKE_MS) });
  } catch (cause) {
    const { reason = "no handshake" } = cause;
    throw new Error(
      `certificate: no browser can be shown it (${reason}): it needs a key of RSA with 2048 bits, or of the curve P-256`,
      { cause }
    );
  } finally {
    ours.destroy();
    theirs.destroy();
  }
}

async function uploadCertificate({
  certificate,
  private_key
}) {
  let keyed;
  try {
    keyed = assembleChain(certificate, private_key);
    await assertShown(keyed);
  } catch (cause) {
    throw new AppError("invalid_request", messageOf(cause), { cause });
  }
  const { hosts, issuer, notBefore, notAfter } = keyed.facts;
  const id = newId("certificate");
  writeUploaded(id, keyed.chain, keyed.key);
  const row = {
    id,
    hosts: JSON.stringify(hosts),
    issuer,
    not_before: notBefore,
    not_after: notAfter,
    created_at: Date.now()
  };
  insertUploaded(row);
  tellCovered(hosts);
  return row;
}
function findUploaded(id) {
  const found = getUploaded(id);
  if (!found) throw new AppError("not_found", `there is no uploaded certificate ${id}`);
  return found;
}
function deleteUploaded({ id, hosts }) {
  deleteUploadedRow(id);
  tellCovered(JSON.parse(hosts));
  return () => removeUploaded(id);
}
function tellCovered(hosts) {
  tellCertified(
    routedHosts().filter(
      ({ host }) => hosts.includes(host) || hosts.includes(`*${host.slice(host.indexOf("."))}`)
    )
  );
}

export { deleteUploaded as d, findUploaded as f, uploadCertificate as u };
