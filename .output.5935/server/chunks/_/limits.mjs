import { randomBytes, createHmac } from 'node:crypto';
import { J as useContext, O as sameSecret, m as messageOf } from '../nitro/nitro.mjs';
import { i as isServerAddress } from './records.mjs';
import { p as publicHttpPort } from './public-address.mjs';
import { a as addressFault } from './addresses.mjs';
import { request } from 'node:http';
import { a as answerOf, b as beginningOf } from './answer-of.mjs';
import { V as VERIFICATION_PATH } from './protocol.mjs';
import { Resolver } from 'node:dns/promises';

function verificationKey() {
  return useContext().vault.fingerprint("verification of domains");
}

const PROBE_MS = 5e3;
const NONCE_BYTES = 16;
const MAX_ANSWER_CHARACTERS = 1024;
async function probeHost(host, address) {
  const nonce = randomBytes(NONCE_BYTES).toString("hex");
  const url = `http://${host}${VERIFICATION_PATH}`;
  try {
    const { status, body } = await get(host, address, VERIFICATION_PATH + nonce);
    const expected = createHmac("sha256", verificationKey()).update(nonce).digest("hex");
    if (status === 200 && sameSecret(body, expected))
      return { outcome: "here", message: `${url} at ${address} is answered by this server` };
    return {
      outcome: "elsewhere",
      message: `${url} at ${address} is answered by something else (status ${status})`
    };
  } catch (error) {
    const why = error.code ?? error.message;
    return {
      outcome: "unreachable",
      message: `${address} port ${publicHttpPort()} cannot be connected to from this host (${why})`
    };
  }
}
async function get(host, address, path) {
  const asked = request({
    host: address,
    port: publicHttpPort(),
    path,
    headers: { host },
    agent: false,
    signal: AbortSignal.timeout(PROBE_MS)
  });
  asked.end();
  const response = await answerOf(asked);
  return { status: response.statusCode ?? 0, body: await beginningOf(response, MAX_ANSWER_CHARACTERS) };
}

const TRY_MS = 2e3;
const TRIES = 2;
const NOTHING = /* @__PURE__ */ new Set(["ENOTFOUND", "ENODATA"]);
function createResolver(servers = useContext().options.dnsResolvers) {
  const resolver = new Resolver({ timeout: TRY_MS, tries: TRIES });
  if (servers.length > 0) resolver.setServers(servers);
  return resolver;
}
async function resolveAddresses(name) {
  const resolver = createResolver();
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  const found = answers.flatMap((answer) => answer.status === "fulfilled" ? answer.value : []);
  if (found.length > 0) return found;
  for (const answer of answers) {
    if (answer.status === "fulfilled") continue;
    const { code } = answer.reason;
    if (!NOTHING.has(code ?? "")) throw new Error(`the resolvers do not answer for ${name} (${code})`);
  }
  return [];
}

const LABEL_BYTES = 6;
function checkDomain(domain) {
  return checkHost(`check-${randomBytes(LABEL_BYTES).toString("hex")}.${domain}`);
}
async function checkHost(host) {
  let addresses;
  try {
    addresses = await resolveAddresses(host);
  } catch (error) {
    return unresolved(messageOf(error));
  }
  if (addresses.length === 0) return unresolved(`${host} has no address: create the records`);
  const dns = judgeAddresses(host, addresses);
  return [dns, await askAddress(host, addresses, dns.outcome === "passed")];
}
function unresolved(message) {
  return [
    { kind: "dns", outcome: "failed", message },
    { kind: "http", outcome: "skipped", message: "not asked, because there is no address to ask" }
  ];
}
function judgeAddresses(host, addresses) {
  const listed = addresses.join(", ");
  if (addresses.some(isServerAddress))
    return { kind: "dns", outcome: "passed", message: `${host} resolves to ${listed}, which is this server` };
  return {
    kind: "dns",
    outcome: "failed",
    message: `${host} resolves to ${listed}, which is no address of this server (a proxy in front or a router may be)`
  };
}
const REACH = { denyPrivate: false, ownPort: null };
async function askAddress(host, addresses, isOwn) {
  const address = addresses[0];
  const fault = addressFault(address, publicHttpPort(), REACH);
  if (fault !== null) return { kind: "http", outcome: "failed", message: `${address} ${fault}` };
  const { outcome, message } = await probeHost(host, address);
  if (outcome === "here") return { kind: "http", outcome: "passed", message };
  const unsaid = outcome === "unreachable" && isOwn;
  return { kind: "http", outcome: unsaid ? "skipped" : "failed", message };
}

async function forEachLimited(items, limit, work) {
  const queue = [...items];
  const failures = [];
  const worker = async () => {
    for (let item = queue.shift(); item !== void 0; item = queue.shift()) {
      await work(item).catch((error) => failures.push(error));
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
  if (failures.length > 0) throw failures[0];
}

export { checkHost as a, checkDomain as b, createResolver as c, forEachLimited as f, verificationKey as v };
