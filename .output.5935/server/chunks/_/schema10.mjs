import { randomInt } from 'node:crypto';
import { BlockList, isIP, isIPv6 } from 'node:net';
import { a5 as isLoopback, A as AppError, a6 as createToken, O as sameSecret, F as newId, q as randomHex, I as timestamp, a7 as revokeUnused, l as logger, a8 as FutureTimestamp, a9 as TokenName } from '../nitro/nitro.mjs';
import { z } from 'zod';

const CUSTOMER_GROUPS = 4;
const SITE_GROUPS = 3;
const NEIGHBOUR_OCTETS = 3;
function clientAddress(request, trusted) {
  const peer = request.socket.remoteAddress ?? "";
  if (!isLoopback(peer)) return plain(peer);
  const proxies = new BlockList();
  for (const [network, prefix] of trusted.map((cidr) => cidr.split("/")))
    proxies.addSubnet(network, Number(prefix), familyOf(network));
  const chain = (request.headers["x-forwarded-for"]?.toString().split(",") ?? []).map(
    (text) => plain(text.trim())
  );
  const told = chain.findLast((address) => !proxies.check(address, familyOf(address)));
  return told !== void 0 && isIP(told) !== 0 ? told : plain(peer);
}
function networkOf(address) {
  return isIPv6(address) ? groupsOf(address, CUSTOMER_GROUPS) : address;
}
function siteOf(address) {
  if (isIPv6(address)) return groupsOf(address, SITE_GROUPS);
  return address.split(".").slice(0, NEIGHBOUR_OCTETS).join(".");
}
function familyOf(address) {
  return isIPv6(address) ? "ipv6" : "ipv4";
}
function plain(address) {
  return address.replace(/^::ffff:(?=\d+\.)/i, "");
}
function groupsOf(address, count) {
  const [start = [], end] = address.split("::").map((part) => part === "" ? [] : part.split(":"));
  const missing = end === void 0 ? 0 : Math.max(8 - start.length - end.length, 0);
  const groups = [...start, ...Array(missing).fill("0"), ...end ?? []];
  return groups.slice(0, count).map((group) => Number.parseInt(group, 16).toString(16)).join(":");
}

const LIFETIME_MS = 10 * 6e4;
const POLL_INTERVAL_SECONDS = 2;
const SECRET_BYTES = 20;
const MAX_PENDING = 1e3;
const MAX_PENDING_OF_NETWORK = 10;
const CODE_LETTERS = "BCDFGHJKLMNPQRSTVWXZ";
const CODE_GROUP_LETTERS = 4;
const DEFAULT_NAME = "terminal";
const log = logger("cli-logins");
const requests = /* @__PURE__ */ new Map();
function startCliLogin(address, name = DEFAULT_NAME) {
  const network = networkOf(address);
  makeRoom(network);
  const id = newId("cliLogin");
  const request = {
    id,
    code: `${codeGroup()}-${codeGroup()}`,
    name,
    address,
    network,
    status: "pending",
    secret: randomHex(SECRET_BYTES),
    createdAt: Date.now(),
    token: null,
    expiry: setTimeout(() => expire(id), LIFETIME_MS).unref()
  };
  requests.set(id, request);
  return {
    code: request.code,
    expires_in: LIFETIME_MS / 1e3,
    id,
    interval: POLL_INTERVAL_SECONDS,
    secret: request.secret
  };
}
function viewCliLogin(id) {
  return view(find(id));
}
function approveCliLogin(id, { code, expires_at }) {
  const request = findPending(id);
  if (code !== void 0 && lettersOf(code) !== lettersOf(request.code)) {
    throw new AppError(
      "invalid_request",
      "code: is not the code of this sign-in; type the one that your own terminal shows, and deny it if none does"
    );
  }
  const { api_token: record, token: secret } = createToken(request.name, expires_at ?? null);
  request.token = { id: record.id, secret };
  return answer(request, "approved");
}
function denyCliLogin(id) {
  return answer(findPending(id), "denied");
}
function pollCliLogin(id, secret) {
  const request = find(id);
  if (!sameSecret(secret, request.secret)) {
    throw new AppError(
      "invalid_credentials",
      "the secret is not the one that the start of this sign-in answered"
    );
  }
  if (request.status === "pending") return { status: "pending" };
  forget(request);
  return request.token ? { status: "approved", token: request.token.secret } : { status: "denied" };
}
function answer(request, status) {
  request.status = status;
  request.expiry.refresh();
  log.info(`the sign-in of a terminal was ${status}`, { request: request.id, name: request.name });
  return view(request);
}
function expire(id) {
  const request = requests.get(id);
  if (!request) return;
  forget(request);
  if (request.token) revokeUnused(request.token.id);
}
function makeRoom(network) {
  const pending = [...requests.values()].filter(({ status }) => status === "pending");
  const own = pending.filter((request) => request.network === network);
  if (own.length >= MAX_PENDING_OF_NETWORK) return forget(own[0]);
  if (pending.length < MAX_PENDING) return;
  const sites = Map.groupBy(pending, ({ address }) => siteOf(address));
  const largest = [...sites.values()].reduce((most, next) => next.length > most.length ? next : most);
  forget(largest[0]);
}
function forget(request) {
  clearTimeout(request.expiry);
  requests.delete(request.id);
}
function find(id) {
  const request = requests.get(id);
  if (!request) {
    throw new AppError(
      "not_found",
      `there is no terminal sign-in ${id}: it was collected, it expired, or newer ones from its address took its place; start again in the terminal`
    );
  }
  return request;
}
function findPending(id) {
  const request = find(id);
  if (request.status !== "pending")
    throw new AppError("conflict", `the terminal sign-in ${id} is ${request.status} already`);
  return request;
}
function view(request) {
  return {
    id: request.id,
    code: request.code,
    name: request.name,
    address: request.address,
    status: request.status,
    created_at: timestamp(request.createdAt),
    expires_at: timestamp(request.createdAt + LIFETIME_MS)
  };
}
function lettersOf(code) {
  return code.toUpperCase().replace(/[^A-Z]/g, "");
}
function codeGroup() {
  return Array.from({ length: CODE_GROUP_LETTERS }, () => CODE_LETTERS[randomInt(CODE_LETTERS.length)]).join(
    ""
  );
}

const Timestamp = z.string().meta({ format: "date-time", examples: ["2026-01-02T03:04:05.678Z"] });
const Id = z.string().meta({ examples: ["cli-0123456789abcdef0123"] });
const Code = z.string().meta({ description: "Shown by the terminal, and typed by who approves it", examples: ["BCDF-GHJK"] });
const NewCliLogin = z.strictObject({
  name: TokenName.optional().meta({
    description: "What the API token will be called",
    examples: ["laptop"]
  })
}).meta({ id: "NewCliLogin", description: "A terminal that wants to sign in" });
const StartedCliLogin = z.object({
  code: Code,
  expires_in: z.int().meta({ description: "Seconds until the request is forgotten", examples: [600] }),
  id: Id,
  interval: z.int().meta({ description: "Seconds between polls", examples: [2] }),
  secret: z.string().meta({
    description: "Proves to the poll that it comes from this terminal",
    examples: ["0123456789abcdef0123456789abcdef01234567"]
  })
}).meta({ id: "StartedCliLogin", description: "A CLI login request, as its terminal sees it" });
const CliLogin = z.object({
  id: Id,
  code: Code,
  name: z.string().meta({ description: "The API token created on approval is named so", examples: ["laptop"] }),
  address: z.string().meta({ description: "Where the terminal is", examples: ["203.0.113.7"] }),
  status: z.enum(["pending", "approved", "denied"]).meta({ examples: ["pending"] }),
  created_at: Timestamp,
  expires_at: Timestamp.meta({
    description: "10 minutes after the start; a restart of the server forgets it too"
  })
}).meta({ id: "CliLogin", description: "A CLI login request, as the administrator sees it" });
const CliLoginApproval = z.strictObject({
  code: z.string().optional().meta({
    description: "As it was typed by who approves: refused when it is not the code of this request",
    examples: ["BCDF-GHJK"]
  }),
  expires_at: FutureTimestamp.nullish().meta({
    description: "When the token expires; never when absent or null"
  })
}).meta({ id: "CliLoginApproval", description: "How a CLI login request is approved" });
const CliLoginSecret = z.strictObject({
  secret: z.string().meta({ description: "From the start", examples: ["0123456789abcdef0123456789abcdef01234567"] })
}).meta({ id: "CliLoginSecret", description: "The terminal's proof" });
const CliLoginPoll = z.discriminatedUnion("status", [
  z.object({ status: z.enum(["pending", "denied"]).meta({ examples: ["pending"] }) }),
  z.object({
    status: z.literal("approved").meta({ examples: ["approved"] }),
    token: z.string().meta({
      description: "The API token; it appears only in this answer",
      examples: ["dpl_0123456789abcdef0123456789abcdef01234567"]
    })
  })
]).meta({ id: "CliLoginPoll", description: "How the request stands" });

export { CliLogin as C, NewCliLogin as N, StartedCliLogin as S, CliLoginApproval as a, approveCliLogin as b, CliLoginPoll as c, denyCliLogin as d, CliLoginSecret as e, clientAddress as f, pollCliLogin as p, startCliLogin as s, viewCliLogin as v };
