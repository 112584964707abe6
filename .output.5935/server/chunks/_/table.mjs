import { request as request$1 } from 'node:http';
import { request } from 'node:https';
import { a as answerOf, b as beginningOf } from './answer-of.mjs';
import { b as bareHost } from './bare-host.mjs';
import { j as judgedLookup, p as placeFault, T as TARGETS } from './judged.mjs';
import { V as VERSION } from './version.mjs';
import { E as useDatabase, I as timestamp, F as newId, M as Timestamp, Z as judged } from '../nitro/nitro.mjs';
import { f as findEnvironment } from './store.mjs';
import { f as findService } from './operations3.mjs';
import { z } from 'zod';

const ANSWER_WITHIN_MS = 15e3;
const KEPT_BYTES = 1024;
async function send({ method, url, headers, body, signal }) {
  const { protocol, hostname, port, pathname, search, username, password } = new URL(url);
  const fault = urlFault(url);
  if (fault !== null) throw new Error(fault);
  const options = {
    method,
    host: bareHost(hostname),
    ...port === "" ? {} : { port },
    path: `${pathname}${search}`,
    ...username === "" ? {} : { auth: `${decoded(username)}:${decoded(password)}` },
    headers: { "user-agent": `deployer/${VERSION}`, "content-length": Buffer.byteLength(body), ...headers },
    lookup: judgedLookup(portOf(new URL(url)), TARGETS),
    agent: false,
    signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_WITHIN_MS)])
  };
  const outgoing = (protocol === "https:" ? request : request$1)(options);
  outgoing.end(body);
  const response = await answerOf(outgoing).catch((error) => {
    if (error.name !== "TimeoutError" && error.name !== "AbortError") throw error;
    throw new Error(`no answer within ${ANSWER_WITHIN_MS / 1e3} s`, { cause: error });
  });
  return { status: response.statusCode ?? 0, text: await beginningOf(response, KEPT_BYTES) };
}
function answerFault({ status, text }) {
  if (status >= 200 && status < 300) return null;
  const said = text.trim().split("\n")[0].slice(0, 200);
  if (status >= 300 && status < 400) return `answered ${status}: redirects are not followed`;
  return `answered ${status}${said === "" ? "" : `: ${said}`}`;
}
function urlFault(text) {
  const url = URL.parse(text);
  if (!url || !["http:", "https:"].includes(url.protocol) || url.port === "0")
    return "must be an http or https URL";
  if (decoded(url.username) === null || decoded(url.password) === null)
    return "has credentials that are not percent-encoded properly";
  return placeFault(url.hostname, portOf(url), TARGETS);
}
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}
function portOf(url) {
  return Number(url.port) || (url.protocol === "https:" ? 443 : 80);
}
function shownTarget(text) {
  const url = new URL(text);
  if (url.username !== "" && (url.password === "" || decoded(url.username) === null)) url.username = "***";
  if (url.password !== "") url.password = "***";
  if (url.search !== "") url.search = "?***";
  return url.href;
}

function filterColumns({ environment, services }) {
  return {
    ...environment === void 0 ? {} : { environment_id: environment === null ? null : findEnvironment(environment).id },
    ...services === void 0 ? {} : {
      services: services === null ? null : JSON.stringify([
        ...new Set(
          services.map((service) => findService(service, environmentOf(service, environment)).id)
        )
      ])
    }
  };
}
function environmentOf(service, environment) {
  return /^srv-[0-9a-f]{20}$/.test(service) ? void 0 : environment ?? void 0;
}

function newFrame(kind, input) {
  const now = Date.now();
  return {
    id: newId(kind),
    name: input.name,
    environment_id: null,
    services: null,
    ...filterColumns(input),
    enabled: 1,
    created_at: now,
    updated_at: now
  };
}
function patchedFrame(patch) {
  return {
    ...patch.name === void 0 ? {} : { name: patch.name },
    ...filterColumns(patch),
    ...patch.enabled === void 0 ? {} : { enabled: patch.enabled ? 1 : 0 },
    updated_at: Date.now()
  };
}
function viewFrame(row) {
  return {
    id: row.id,
    name: row.name,
    environment: environmentName(row.environment_id),
    services: existingServices(row.services),
    enabled: row.enabled === 1,
    created_at: timestamp(row.created_at),
    updated_at: timestamp(row.updated_at)
  };
}
function environmentName(id) {
  if (id === null) return null;
  return useDatabase().get("SELECT name FROM environments WHERE id = ?", id)?.name ?? null;
}
function existingServices(services) {
  if (services === null) return null;
  return useDatabase().all("SELECT id FROM services WHERE id IN (SELECT value FROM json_each(?))", services).map(({ id }) => id);
}

const MAX_NAME_CHARACTERS = 100;
const MAX_URL_CHARACTERS = 2e3;
const MAX_SERVICES = 1e3;
function targetUrl(fault) {
  return judged(
    (text) => text.length > MAX_URL_CHARACTERS ? `must have at most ${MAX_URL_CHARACTERS} characters` : fault(text)
  ).meta({ minLength: 1, maxLength: MAX_URL_CHARACTERS });
}
const targetInput = {
  name: z.string().min(1).max(MAX_NAME_CHARACTERS).regex(/^[^\p{Cc}\p{Cf}\p{Cs}]+$/u, "must have no control characters").meta({ examples: ["Team"] }),
  environment: z.string().min(1).nullable().optional().meta({
    description: "Id or name: only what belongs to that environment; null for all",
    examples: ["production"]
  }),
  services: z.array(z.string().min(1)).min(1).max(MAX_SERVICES).nullable().optional().meta({ description: "Ids or names: only these services; null for all", examples: [["api"]] })
};
const targetPatch = {
  ...targetInput,
  name: targetInput.name.optional(),
  enabled: z.boolean().optional()
};
const targetAnswer = {
  name: z.string().meta({ examples: ["Team"] }),
  environment: z.string().nullable().meta({ description: "Name", examples: [null] }),
  services: z.array(z.string()).nullable().meta({ description: "Ids", examples: [null] }),
  enabled: z.boolean(),
  created_at: Timestamp,
  updated_at: Timestamp
};
const TestResult = z.object({
  ok: z.boolean(),
  status: z.int().nullable().meta({ description: "The answer, where there is one", examples: [200] }),
  error: z.string().nullable().meta({ examples: [null] })
}).meta({ id: "TestResult" });

class TargetTable {
  #name;
  constructor(name) {
    this.#name = name;
  }
  /** All of them, by name. */
  list() {
    return useDatabase().all(`SELECT * FROM ${this.#name} ORDER BY name, id`);
  }
  get(id) {
    return useDatabase().get(`SELECT * FROM ${this.#name} WHERE id = ?`, id);
  }
  insert(row) {
    const columns = Object.keys(row);
    useDatabase().run(
      `INSERT INTO ${this.#name} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`,
      ...Object.values(row)
    );
  }
  update(id, columns) {
    const set = Object.keys(columns).map((column) => `${column} = ?`);
    useDatabase().run(
      `UPDATE ${this.#name} SET ${set.join(", ")} WHERE id = ?`,
      ...Object.values(columns),
      id
    );
  }
  remove(id) {
    useDatabase().run(`DELETE FROM ${this.#name} WHERE id = ?`, id);
  }
}

export { TargetTable as T, answerFault as a, targetPatch as b, targetInput as c, targetUrl as d, shownTarget as e, environmentName as f, decoded as g, TestResult as h, newFrame as n, patchedFrame as p, send as s, targetAnswer as t, urlFault as u, viewFrame as v };
