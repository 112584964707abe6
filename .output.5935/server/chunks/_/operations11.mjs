import { EventEmitter } from 'node:events';
import { M as Timestamp, U as idSchema, E as useDatabase, I as timestamp, J as useContext, A as AppError } from '../nitro/nitro.mjs';
import { t as targetAnswer, b as targetPatch, c as targetInput, d as targetUrl, u as urlFault, T as TargetTable, e as shownTarget, v as viewFrame, p as patchedFrame, n as newFrame } from './table.mjs';
import { z } from 'zod';
import { p as placeFault, T as TARGETS } from './judged.mjs';

const DRAIN_KINDS = ["syslog", "http", "loki", "otlp"];
const Token = z.string().regex(/^[!-~]{1,4096}$/, "must be 1 to 4096 visible ASCII characters").nullable().meta({ description: "Sent as `Authorization: Bearer`; not for syslog. Never shown", examples: [null] });
function anyUrlFault(text) {
  const scheme = /^(?:(https?)|tcp|tls):/i.exec(text);
  if (!scheme) return "must be an http or https URL, or tcp://host:port or tls://host:port for syslog";
  return drainUrlFault(scheme[1] === void 0 ? "syslog" : "http", text);
}
const Url = targetUrl(anyUrlFault).meta({
  description: "`tcp://` or `tls://host:port` for syslog, else http or https",
  examples: ["https://logs.example.com"]
});
const LogDrainInput = z.strictObject({
  kind: z.enum(DRAIN_KINDS).meta({ examples: ["loki"] }),
  ...targetInput,
  url: Url,
  token: Token.optional()
}).meta({
  id: "LogDrainInput",
  examples: [{ name: "Log archive", kind: "loki", url: "https://logs.example.com" }]
});
const LogDrainPatch = z.strictObject({ ...targetPatch, url: Url.optional(), token: Token.optional() }).meta({ id: "LogDrainPatch", examples: [{ enabled: false }] });
const LogDrain = z.object({
  id: idSchema("logDrain"),
  ...targetAnswer,
  kind: z.enum(DRAIN_KINDS).meta({ examples: ["loki"] }),
  url: z.string().meta({ description: "Without what is secret in it", examples: ["https://logs.example.com"] }),
  token_hint: z.string().nullable().meta({ description: "The end of the token", examples: [null] }),
  sent: z.int().meta({ description: "Lines that the target has taken", examples: [12345] }),
  dropped: z.int().meta({
    description: "Lines that it never takes: removed before it did, or refused by it",
    examples: [0]
  }),
  last_error: z.string().nullable().meta({ examples: [null] }),
  last_sent_at: Timestamp.nullable()
}).meta({ id: "LogDrain", description: "Where the output of services is sent on to" });
const LogDrainDelivery = z.object({
  status: z.enum(["delivered", "failed", "dropped"]).meta({
    description: "Whether the lines were taken, are tried again, or were left out for good",
    examples: ["delivered"]
  }),
  lines: z.int().meta({ description: "None of a failure: they are tried again", examples: [1200] }),
  attempts: z.int().meta({ examples: [12] }),
  error: z.string().nullable().meta({ examples: [null] }),
  began_at: Timestamp,
  ended_at: Timestamp
}).meta({ id: "LogDrainDelivery", description: "Attempts that followed each other and ended alike" });
const LogDrainPath = z.strictObject({
  id: z.string().meta({ description: "Id of the log drain", examples: ["drn-4f1d0c9a7b3e5d2f6a80"] })
});
function drainUrlFault(kind, text) {
  return kind === "syslog" ? syslogFault(text) : urlFault(text);
}
function syslogFault(text) {
  const url = URL.parse(text);
  const isTarget = url && ["tcp:", "tls:"].includes(url.protocol) && Number(url.port) > 0 && url.hostname !== "" && ["", "/"].includes(url.pathname) && url.username + url.password + url.search + url.hash === "";
  return isTarget ? placeFault(url.hostname, Number(url.port), TARGETS) : "must be tcp://host:port or tls://host:port";
}

const KEPT = 100;
const ROW_MS = 6e5;
function recordDelivery(drainId, { status, lines, error }) {
  const database = useDatabase();
  const now = Date.now();
  const added = database.run(
    `UPDATE log_drain_deliveries SET lines = lines + ?1, attempts = attempts + 1, ended_at = ?2
     WHERE sequence = (SELECT max(sequence) FROM log_drain_deliveries WHERE drain_id = ?3)
     AND status = ?4 AND error IS ?5 AND began_at > ?6`,
    lines,
    now,
    drainId,
    status,
    error,
    now - ROW_MS
  );
  if (added > 0) return;
  database.run(
    `INSERT INTO log_drain_deliveries (drain_id, status, lines, error, began_at, ended_at)
     SELECT id, ?2, ?3, ?4, ?5, ?5 FROM log_drains WHERE id = ?1`,
    drainId,
    status,
    lines,
    error,
    now
  );
  database.run(
    `DELETE FROM log_drain_deliveries WHERE sequence IN
     (SELECT sequence FROM log_drain_deliveries WHERE drain_id = ? ORDER BY sequence DESC LIMIT -1 OFFSET ?)`,
    drainId,
    KEPT
  );
}
function listDrainDeliveries(drainId) {
  return useDatabase().all(
    `SELECT status, lines, attempts, error, began_at, ended_at FROM log_drain_deliveries
       WHERE drain_id = ? ORDER BY sequence DESC`,
    drainId
  ).map((row) => ({ ...row, began_at: timestamp(row.began_at), ended_at: timestamp(row.ended_at) }));
}

const drains = new TargetTable("log_drains");
function servicesOf({ environment_id, services }) {
  return useDatabase().all(
    `SELECT id FROM services WHERE deleting = 0 AND (?1 IS NULL OR environment_id = ?1)
       AND (?2 IS NULL OR id IN (SELECT value FROM json_each(?2)))`,
    environment_id,
    services
  ).map(({ id }) => id);
}
function placeOf(drainId, serviceId) {
  return useDatabase().get(
    "SELECT next_line FROM log_drain_places WHERE drain_id = ? AND service_id = ?",
    drainId,
    serviceId
  )?.next_line ?? null;
}
function beginAt(drainId, serviceId, line) {
  useDatabase().run(
    "INSERT INTO log_drain_places (drain_id, service_id, next_line) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
    drainId,
    serviceId,
    line
  );
}
function recordSent(drainId, serviceId, nextLine, sent) {
  const database = useDatabase();
  database.transaction(() => {
    setPlace(drainId, serviceId, nextLine);
    recordDelivery(drainId, { status: "delivered", lines: sent, error: null });
    database.run(
      "UPDATE log_drains SET sent = sent + ?, last_error = NULL, last_sent_at = ? WHERE id = ?",
      sent,
      Date.now(),
      drainId
    );
  });
}
function recordDropped(drainId, serviceId, nextLine, dropped, error) {
  const database = useDatabase();
  database.transaction(() => {
    setPlace(drainId, serviceId, nextLine);
    recordDelivery(drainId, { status: "dropped", lines: dropped, error });
    database.run("UPDATE log_drains SET dropped = dropped + ? WHERE id = ?", dropped, drainId);
  });
}
function setPlace(drainId, serviceId, nextLine) {
  useDatabase().run(
    "UPDATE log_drain_places SET next_line = ? WHERE drain_id = ? AND service_id = ?",
    nextLine,
    drainId,
    serviceId
  );
}

const HINT_CHARACTERS = 4;
const listeners = new EventEmitter();
function onDrainsChanged(listener) {
  listeners.on("changed", listener);
  return () => listeners.off("changed", listener);
}
function findDrain(id) {
  const found = drains.get(id);
  if (!found) throw new AppError("not_found", `there is no log drain ${id}`);
  return found;
}
function createDrain(input) {
  checkUrl(input.kind, input.url);
  const target = targetOf(input.kind, input.url, input.token ?? null);
  const row = {
    ...newFrame("logDrain", input),
    kind: input.kind,
    ...target,
    sent: 0,
    dropped: 0,
    last_error: null,
    last_sent_at: null
  };
  drains.insert(row);
  listeners.emit("changed");
  return row;
}
function patchDrain(row, patch) {
  const present = openTarget(row);
  const isSame = patch.url === void 0 || patch.url === shownTarget(present.url);
  const url = isSame ? present.url : patch.url;
  const token = patch.token === void 0 ? present.token : patch.token;
  if (!isSame) checkUrl(row.kind, url);
  const target = targetOf(row.kind, url, token);
  if (patch.token === void 0 && token !== null && new URL(url).origin !== new URL(present.url).origin)
    throw new AppError(
      "invalid_request",
      "token: is kept for the present host alone: give it again for the new url, or null for none"
    );
  drains.update(row.id, { ...patchedFrame(patch), ...target });
  listeners.emit("changed");
  return drains.get(row.id);
}
function deleteDrain(row) {
  drains.remove(row.id);
  listeners.emit("changed");
}
function openTarget({ url, token }) {
  const { vault } = useContext();
  return { url: vault.open(url), token: token && vault.open(token) };
}
function viewDrain(row) {
  const { url, token } = openTarget(row);
  return {
    ...viewFrame(row),
    kind: row.kind,
    url: shownTarget(url),
    token_hint: token === null ? null : token.length > 2 * HINT_CHARACTERS ? token.slice(-HINT_CHARACTERS) : "***",
    sent: row.sent,
    dropped: row.dropped,
    last_error: row.last_error,
    last_sent_at: timestamp(row.last_sent_at)
  };
}
function checkUrl(kind, url) {
  const fault = drainUrlFault(kind, url);
  if (fault !== null) throw new AppError("invalid_request", `url: ${fault}`);
}
function targetOf(kind, url, token) {
  if (kind === "syslog" && token !== null) throw new AppError("invalid_request", "token: syslog has none");
  const { vault } = useContext();
  return { url: vault.seal(url), token: token === null ? null : vault.seal(token) };
}

export { LogDrainDelivery as L, openTarget as a, beginAt as b, recordDelivery as c, drains as d, recordDropped as e, LogDrainPath as f, findDrain as g, deleteDrain as h, LogDrain as i, LogDrainPatch as j, patchDrain as k, listDrainDeliveries as l, LogDrainInput as m, createDrain as n, onDrainsChanged as o, placeOf as p, recordSent as r, servicesOf as s, viewDrain as v };
