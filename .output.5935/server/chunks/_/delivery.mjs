import { o as onChange } from './changes.mjs';
import { E as useDatabase, I as timestamp, J as useContext, A as AppError, m as messageOf$1, l as logger, F as newId } from '../nitro/nitro.mjs';
import { EventEmitter } from 'node:events';
import { q as qualifiedName } from './qualified-name.mjs';
import { n as notifications, i as insertDelivery, o as openUrl, t as topicOf, d as dueNotifications, a as nextAttemptAt, b as dueDelivery, r as recordAttempt } from './operations10.mjs';
import { createHmac } from 'node:crypto';
import { s as send, a as answerFault } from './table.mjs';

const listeners = new EventEmitter();
function happened(type, subject, detail = null) {
  useDatabase().run("INSERT INTO happenings (type, subject, detail) VALUES (?, ?, ?)", type, subject, detail);
  listeners.emit("happened");
}
function onHappened(listener) {
  listeners.on("happened", listener);
  return () => listeners.off("happened", listener);
}
function nextHappenings(limit) {
  return useDatabase().all("SELECT * FROM happenings ORDER BY sequence LIMIT ?", limit);
}
function forgetHappening(sequence) {
  useDatabase().run("DELETE FROM happenings WHERE sequence = ?", sequence);
}
function lastTold(key) {
  return useDatabase().get("SELECT value FROM told WHERE key = ?", key)?.value ?? null;
}
function setTold(key, value) {
  if (value === null) useDatabase().run("DELETE FROM told WHERE key = ?", key);
  else
    useDatabase().run(
      "INSERT INTO told (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2",
      key,
      value
    );
}

const WHOLE_SERVER = { environmentId: null, serviceId: null };
const SHOWN_CHARACTERS = 1e3;
function messageOf(happening) {
  const facts = factsOf(happening);
  if (!facts) return null;
  const { subject, data, title, body } = facts;
  const { type, at } = happening;
  const text = { title, body: body.slice(0, SHOWN_CHARACTERS) };
  return { message: { type, timestamp: timestamp(at), data, text }, subject };
}
function testMessage(name) {
  return {
    type: "test",
    timestamp: timestamp(Date.now()),
    data: { notification: name },
    text: { title: "Test", body: `This is a test of the notification ${name}. Nothing has happened.` }
  };
}
function factsOf(happening) {
  const { type, subject, detail } = happening;
  switch (type) {
    case "deploy.started":
    case "deploy.succeeded":
    case "deploy.failed":
      return ofDeploy(
        subject,
        { "deploy.started": "started", "deploy.succeeded": "is live", "deploy.failed": "failed" }[type]
      );
    case "service.down":
      return ofService(subject, "is down", detail ?? "None of its instances answers.");
    case "service.recovered":
      return ofService(subject, "runs again", "All of its instances answer again.");
    case "service.out_of_memory":
      return ofService(
        subject,
        "ran out of memory",
        `${detail ?? "An instance"} was ended: it used more than its memory limit.`
      );
    case "job.failed":
      return ofJob(subject);
    case "job.missed":
      return ofService(
        subject,
        "has missed a run",
        `The run of ${detail ?? "its schedule"} was not made while the server was down.`
      );
    case "datastore.down":
      return ofDatastore(subject, "is down", detail ?? "It does not answer.");
    case "datastore.recovered":
      return ofDatastore(subject, "is available again", "It answers again.");
    case "backup.failed":
      return ofBackup(subject);
    case "certificate.failed":
      return ofServer(
        { host: subject, error: detail },
        `The certificate of ${subject} failed`,
        detail ?? "It is tried again."
      );
    case "certificate.expiring":
      return ofServer(
        { host: subject, ...JSON.parse(detail) },
        `The certificate of ${subject} ends in ${JSON.parse(detail).days_left} days`,
        "It was not renewed."
      );
    case "server.disk_low": {
      const disk = JSON.parse(detail);
      return ofServer(
        { path: subject, ...disk },
        "The disk of the server is nearly full",
        `${disk.free_percent} % of ${subject} is free.`
      );
    }
  }
}
function ofServer(data, title, body) {
  return { subject: WHOLE_SERVER, data, title, body };
}
function ofService(id, what, body) {
  const service = named("services", id);
  if (!service) return null;
  const data = { service: shown(service), message: body };
  return { ...about(service, id), data, title: `${nameOf(service)} ${what}`, body };
}
function ofDeploy(id, how) {
  const deploy = useDatabase().get("SELECT service_id, status, trigger, commit_sha, commit_message, error FROM deploys WHERE id = ?", id);
  const service = deploy && named("services", deploy.service_id);
  if (!service) return null;
  const { service_id, ...rest } = deploy;
  const commit = deploy.commit_sha === null ? "" : `${deploy.commit_sha.slice(0, 7)} ${deploy.commit_message?.split("\n")[0] ?? ""}`;
  return {
    ...about(service, service_id),
    data: { service: shown(service), deploy: { id, ...rest } },
    title: `Deploy of ${nameOf(service)} ${how}`,
    body: deploy.error ?? commit
  };
}
function ofJob(id) {
  const job = useDatabase().get("SELECT service_id, trigger, command, exit_code, error FROM jobs WHERE id = ?", id);
  const service = job && named("services", job.service_id);
  if (!service) return null;
  const { service_id, ...rest } = job;
  return {
    ...about(service, service_id),
    data: { service: shown(service), job: { id, ...rest } },
    title: `A run of ${nameOf(service)} failed`,
    body: job.error ?? ""
  };
}
function ofDatastore(id, what, body) {
  const datastore = named("datastores", id);
  if (!datastore) return null;
  const data = { datastore: shown(datastore), message: body };
  return { ...about(datastore, null), data, title: `${nameOf(datastore)} ${what}`, body };
}
function ofBackup(id) {
  const backup = useDatabase().get(
    "SELECT datastore_id, trigger, error FROM backups WHERE id = ?",
    id
  );
  const datastore = backup && named("datastores", backup.datastore_id);
  if (!datastore) return null;
  const { trigger, error } = backup;
  return {
    ...about(datastore, null),
    data: { datastore: shown(datastore), backup: { id, trigger, error } },
    title: `A backup of ${nameOf(datastore)} failed`,
    body: error ?? ""
  };
}
function named(table, id) {
  return useDatabase().get(
    `SELECT ${table}.id, ${table}.name, environment_id, environments.name AS environment
     FROM ${table} JOIN environments ON environments.id = environment_id WHERE ${table}.id = ?`,
    id
  );
}
function about({ environment_id }, serviceId) {
  return { subject: { environmentId: environment_id, serviceId } };
}
function shown({ id, name, environment }) {
  return { id, name, environment };
}
function nameOf({ name, environment }) {
  return qualifiedName(name, { name: environment });
}

const BATCH = 100;
function dispatchHappenings() {
  for (let left = BATCH; left === BATCH; ) {
    left = useDatabase().transaction(() => {
      const happenings = nextHappenings(BATCH);
      const all = happenings.length === 0 ? [] : notifications.list();
      for (const happening of happenings) {
        forgetHappening(happening.sequence);
        const told = messageOf(happening);
        if (!told) continue;
        for (const notification of all)
          if (wants(notification, happening.type, told.subject)) insertDelivery(notification.id, told.message);
      }
      return happenings.length;
    });
  }
}
function wants(row, type, { environmentId, serviceId }) {
  if (!row.enabled) return false;
  const isNamed = row.events !== null && JSON.parse(row.events).includes(type);
  if (row.events !== null && !isNamed) return false;
  if (environmentId === null) return isNamed || row.environment_id === null && row.services === null;
  if (row.environment_id !== null && row.environment_id !== environmentId) return false;
  return row.services === null || serviceId !== null && JSON.parse(row.services).includes(serviceId);
}

const SILENCE_MS = 15e3;
const TAKEN_WITHIN_MS = 6e4;
async function sendMail(to, id, message, signal) {
  const { mail } = useContext().options;
  if (!mail)
    throw new AppError(
      "invalid_request",
      "there is no mail server: start the server with --smtp-url and --smtp-from"
    );
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({
    url: mail.url,
    connectionTimeout: SILENCE_MS,
    greetingTimeout: SILENCE_MS,
    socketTimeout: SILENCE_MS,
    // Nothing of a message is a file's or a URL's name.
    disableFileAccess: true,
    disableUrlAccess: true
  });
  const late = AbortSignal.timeout(TAKEN_WITHIN_MS);
  try {
    await transport.sendMail({
      from: mail.from,
      to,
      subject: message.text.title,
      text: `${message.text.body}

${message.type}, ${message.timestamp}
`,
      messageId: `<${id}@${mail.from.replace(/^.*@/, "").replace(/>$/, "")}>`,
      headers: { "Auto-Submitted": "auto-generated" },
      signal: AbortSignal.any([signal, late])
    });
  } catch (error) {
    if (!late.aborted) throw error;
    throw new Error(`the mail server did not take it within ${TAKEN_WITHIN_MS / 1e3} s`, { cause: error });
  } finally {
    transport.close();
  }
}

const DISCORD_CHARACTERS = 2e3;
const BAD_NEWS = /\.(failed|down|out_of_memory|missed|disk_low|expiring)$/;
async function deliver(row, id, message, signal) {
  try {
    if (row.kind === "email") {
      await sendMail(JSON.parse(row.recipients), id, message, signal);
      return { ok: true, status: null, error: null };
    }
    const { headers, body, url } = requestOf(row, id, message);
    const answer = await send({ method: "POST", url, headers, body, signal });
    const error = answerFault(answer);
    return { ok: error === null, status: answer.status, error };
  } catch (error) {
    return { ok: false, status: null, error: messageOf$1(error) };
  }
}
function requestOf(row, id, message) {
  const url = openUrl(row);
  const { title, body } = message.text;
  const text = body === "" ? title : `${title}
${body}`;
  const json = { "content-type": "application/json" };
  switch (row.kind) {
    case "slack":
      return { url, headers: json, body: JSON.stringify({ text: forSlack(title, body) }) };
    case "discord":
      return {
        url,
        headers: json,
        // Names in it must not call anybody.
        body: JSON.stringify({ content: text.slice(0, DISCORD_CHARACTERS), allowed_mentions: { parse: [] } })
      };
    case "ntfy": {
      const target = new URL(url);
      const topic = topicOf(target);
      const above = target.pathname.split("/").filter((part) => part !== "");
      target.pathname = ["", ...above.slice(0, -1), ""].join("/");
      const priority = BAD_NEWS.test(message.type) ? 4 : 3;
      return {
        url: target.href,
        headers: json,
        body: JSON.stringify({
          topic,
          title,
          message: body === "" ? title : body,
          priority
        })
      };
    }
    default:
      return signed(url, useContext().vault.open(row.secret), id, message);
  }
}
function signed(url, secret, id, { type, timestamp, data }) {
  const body = JSON.stringify({ type, timestamp, data });
  const sentAt = String(Math.floor(Date.now() / 1e3));
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const signature = createHmac("sha256", key).update(`${id}.${sentAt}.${body}`).digest("base64");
  return {
    url,
    headers: {
      "content-type": "application/json",
      "webhook-id": id,
      "webhook-timestamp": sentAt,
      "webhook-signature": `v1,${signature}`
    },
    body
  };
}
function forSlack(title, body) {
  const escape = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return body === "" ? `*${escape(title)}*` : `*${escape(title)}*
${escape(body)}`;
}

const log = logger("notifications");
const PERIOD_MS = 3e4;
const SECOND_MS = 1e3;
const RETRY_MS = [5, 60, 300, 1800, 7200].map((seconds) => seconds * SECOND_MS);
const JITTER = 0.2;
class Notifier {
  #stops = [];
  #stopping = new AbortController();
  #sending = /* @__PURE__ */ new Map();
  /** Of each notification the attempt that could not be recorded yet, as with a full disk: it is not made again. */
  #unrecorded = /* @__PURE__ */ new Map();
  #timer;
  task(wake) {
    this.#stops.push(onChange(wake), onHappened(wake));
    return {
      name: "notifications",
      everyMs: PERIOD_MS,
      run: async () => {
        clearTimeout(this.#timer);
        dispatchHappenings();
        for (const id of dueNotifications(Date.now())) this.#send(id);
        const next = nextAttemptAt();
        if (next !== null) this.#timer = setTimeout(wake, Math.max(1, Math.min(PERIOD_MS, next - Date.now())));
      }
    };
  }
  /** Ends the attempts under way; they are made again by the next start. */
  async stop() {
    clearTimeout(this.#timer);
    for (const stop of this.#stops) stop();
    this.#stopping.abort();
    await Promise.all(this.#sending.values());
    for (const id of [...this.#unrecorded.keys()]) {
      try {
        this.#record(id);
      } catch (error) {
        log.warn("a message may be sent again", { notification: id, error: messageOf$1(error) });
      }
    }
  }
  #send(id) {
    if (this.#sending.has(id)) return;
    const work = async () => {
      this.#record(id);
      for (let due = dueDelivery(id, Date.now()); due; due = dueDelivery(id, Date.now())) {
        const record = await attempt(due, this.#stopping.signal);
        if (!record) return;
        this.#unrecorded.set(id, record);
        this.#record(id);
        if (this.#stopping.signal.aborted) return;
      }
    };
    const sending = work().catch(
      (error) => log.error("a message cannot be sent", { notification: id, error: messageOf$1(error) })
    ).finally(() => this.#sending.delete(id));
    this.#sending.set(id, sending);
  }
  #record(id) {
    this.#unrecorded.get(id)?.();
    this.#unrecorded.delete(id);
  }
}
async function testNotification(row, signal) {
  return deliver(row, newId("delivery"), testMessage(row.name), signal);
}
async function attempt(delivery, signal) {
  const notification = notifications.get(delivery.notification_id);
  if (!notification || signal.aborted) return null;
  const at = Date.now();
  const began = performance.now();
  const message = JSON.parse(delivery.message);
  const { ok, status, error } = await deliver(notification, delivery.id, message, signal);
  if (signal.aborted && !ok) return null;
  const retryMs = RETRY_MS[JSON.parse(delivery.attempts).length];
  const duration_ms = Math.round(performance.now() - began);
  const next = ok || retryMs === void 0 ? null : Date.now() + Math.round(retryMs * (1 + Math.random() * JITTER));
  const state = ok ? "delivered" : next === null ? "failed" : "pending";
  return () => recordAttempt(delivery, { at: timestamp(at), status, error, duration_ms }, state, next);
}

export { Notifier as N, happened as h, lastTold as l, setTold as s, testNotification as t };
