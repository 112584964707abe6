import { setTimeout } from 'node:timers/promises';
import { m as messageOf, l as logger } from '../nitro/nitro.mjs';
import { a as openTarget, s as servicesOf, p as placeOf, b as beginAt, r as recordSent, c as recordDelivery, d as drains, e as recordDropped } from './operations11.mjs';
import { i as isBroken, d as readPart, s as serviceLog, b as linesIn } from './filter.mjs';
import { open } from 'node:fs/promises';
import { g as getService } from './store5.mjs';
import { s as send, a as answerFault, f as environmentName } from './table.mjs';
import { isIP, connect as connect$1 } from 'node:net';
import { once } from 'node:events';
import { connect } from 'node:tls';
import { b as bareHost } from './bare-host.mjs';
import { a as assertPlace, j as judgedLookup, T as TARGETS } from './judged.mjs';

const LONGEST_LINE_BYTES = 256 * 1024;
const NEWLINE = 10;
class ForwardReader {
  #place = null;
  #unpacked = null;
  /** What follows from a line on, up to so many lines and bytes; from the oldest kept line when that one is gone or in a broken part. Null for nothing yet. */
  async next(slices, line, maxLines, maxBytes) {
    const index = slices.findLastIndex(({ first }) => first <= line);
    const candidates = slices.slice(Math.max(0, index), Math.max(0, index) + 2);
    for (const slice of candidates) {
      const from = Math.max(line, slice.first);
      try {
        const batch = await this.#batchOf(slice, from, maxLines, maxBytes);
        if (batch) return batch;
      } catch (error) {
        if (!isBroken(error)) throw error;
      }
    }
    return null;
  }
  async #batchOf(slice, from, maxLines, maxBytes) {
    const offset = await this.#offsetOf(slice, from);
    if (offset === null) return null;
    const batch = take(await this.#read(slice, offset, maxBytes), maxLines, maxBytes);
    if (batch.count === 0) return null;
    this.#place = { first: slice.first, line: from + batch.count, offset: offset + batch.text.length };
    return { first: from, ...batch };
  }
  /** Where a line stands in its part; null when the part is gone, or does not have it yet. */
  async #offsetOf(slice, line) {
    if (line === slice.first) return 0;
    if (this.#place?.first === slice.first && this.#place.line === line) return this.#place.offset;
    const content = await readPart(slice);
    let offset = 0;
    for (let at = slice.first; content && at < line; at++) {
      const newline = content.indexOf(NEWLINE, offset);
      if (newline === -1) return null;
      offset = newline + 1;
    }
    return content && offset;
  }
  async #read(slice, offset, maxBytes) {
    const file = slice.isPacked ? null : await open(slice.path, "r").catch(() => null);
    if (!file) return (await this.#unpack(slice)).subarray(offset);
    this.#unpacked = null;
    try {
      const room = (slice.bytes ?? Infinity) - offset;
      const buffer = Buffer.allocUnsafe(Math.max(0, Math.min(room, maxBytes + LONGEST_LINE_BYTES)));
      const { bytesRead } = await file.read(buffer, 0, buffer.length, offset);
      return buffer.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  }
  async #unpack(slice) {
    if (this.#unpacked?.first === slice.first) return this.#unpacked.content;
    const content = await readPart({ ...slice, bytes: null }) ?? Buffer.alloc(0);
    this.#unpacked = { first: slice.first, content };
    return content;
  }
}
function take(content, maxLines, maxBytes) {
  let end = 0;
  let count = 0;
  while (count < maxLines && (count === 0 || end < maxBytes)) {
    const newline = content.indexOf(NEWLINE, end);
    if (newline === -1) break;
    end = newline + 1;
    count++;
  }
  return { text: content.subarray(0, end), count };
}

const FACILITY = 1;
const SEVERITY = {
  stdout: { syslog: 6, otlp: 9, text: "INFO" },
  stderr: { syslog: 3, otlp: 17, text: "ERROR" },
  system: { syslog: 5, otlp: 10, text: "INFO2" }
};
const NANOSECONDS_A_MILLISECOND = 1000000n;
const COLOUR = /\u001b\[[\d;:]*m/g;
function bodyOf(kind, origin, lines) {
  switch (kind) {
    case "syslog":
      return lines.map((line) => syslogMessage(origin, line)).join("");
    case "http":
      return lines.map((line) => `${JSON.stringify({ ...tagsOf(origin), ...line })}
`).join("");
    case "loki":
      return JSON.stringify({ streams: lokiStreams(origin, lines) });
    case "otlp":
      return JSON.stringify(otlpLogs(origin, lines));
  }
}
function tagsOf({ service, environment, serviceId }) {
  return { service, environment, service_id: serviceId };
}
function syslogMessage({ service, environment, serviceId }, line) {
  const priority = FACILITY * 8 + SEVERITY[line.stream].syslog;
  const instance = line.instance === void 0 ? "-" : line.instance.slice(-"00000".length);
  const data = `[deployer@32473 service_id="${serviceId}" environment="${environment}" stream="${line.stream}"]`;
  const text = line.line.replaceAll(COLOUR, "");
  const message = `<${priority}>1 ${line.ts} ${environment} ${service} ${instance} ${line.stream} ${data} \uFEFF${text}`;
  return `${Buffer.byteLength(message)} ${message}`;
}
function lokiStreams(origin, lines) {
  const streams = /* @__PURE__ */ new Map();
  for (const { ts, stream, line, instance } of lines) {
    const labels = { service: origin.service, environment: origin.environment, stream };
    const entry = streams.get(stream) ?? { stream: labels, values: [] };
    entry.values.push([nanoseconds(ts), line, instance === void 0 ? {} : { instance }]);
    streams.set(stream, entry);
  }
  return [...streams.values()];
}
function otlpLogs({ service, environment, serviceId }, lines) {
  const attribute = (key, value) => ({ key, value: { stringValue: value } });
  return {
    resourceLogs: [
      {
        resource: {
          attributes: [
            attribute("service.name", service),
            attribute("deployment.environment.name", environment),
            attribute("deployer.service.id", serviceId)
          ]
        },
        scopeLogs: [
          {
            scope: { name: "deployer" },
            logRecords: lines.map(({ ts, stream, line, instance }) => ({
              timeUnixNano: nanoseconds(ts),
              observedTimeUnixNano: nanoseconds(ts),
              severityNumber: SEVERITY[stream].otlp,
              severityText: SEVERITY[stream].text,
              body: { stringValue: line },
              attributes: [
                attribute("log.iostream", stream),
                ...instance === void 0 ? [] : [attribute("service.instance.id", instance)]
              ]
            }))
          }
        ]
      }
    ]
  };
}
function nanoseconds(ts) {
  return String(BigInt(Date.parse(ts)) * NANOSECONDS_A_MILLISECOND);
}

const STALL_MS = 15e3;
class Refusal extends Error {
  name = "Refusal";
  /** Whether fewer at once may be taken (RFC 9110 section 15.5.14). */
  isTooLarge;
  constructor(message, isTooLarge) {
    super(message);
    this.isTooLarge = isTooLarge;
  }
}
const REFUSALS = [400, 413, 422];
const TOO_LARGE = 413;
function openDrainTarget(kind, url, token) {
  return kind === "syslog" ? new SyslogTarget(new URL(url)) : new HttpTarget(kind, url, token);
}
const USUAL_PATHS = { http: "/", loki: "/loki/api/v1/push", otlp: "/v1/logs" };
class HttpTarget {
  #kind;
  #url;
  #headers;
  constructor(kind, url, token) {
    const target = new URL(url);
    if (target.pathname === "/") target.pathname = USUAL_PATHS[kind];
    this.#kind = kind;
    this.#url = target.href;
    this.#headers = {
      "content-type": kind === "http" ? "application/x-ndjson" : "application/json",
      ...token === null ? {} : { authorization: `Bearer ${token}` }
    };
  }
  async send(origin, lines, signal) {
    const body = bodyOf(this.#kind, origin, lines);
    const answer = await send({ method: "POST", url: this.#url, headers: this.#headers, body, signal });
    const fault = answerFault(answer);
    if (fault === null) return;
    throw REFUSALS.includes(answer.status) ? new Refusal(fault, answer.status === TOO_LARGE) : new Error(fault);
  }
  close() {
  }
}
class SyslogTarget {
  #url;
  #socket = null;
  constructor(url) {
    this.#url = url;
  }
  async send(origin, lines, signal) {
    const socket = await this.#connected(signal);
    const stop = AbortSignal.any([signal, AbortSignal.timeout(STALL_MS)]);
    const { promise, resolve, reject } = Promise.withResolvers();
    const fail = () => reject(new Error("the connection was closed before everything was sent"));
    const stall = () => reject(new Error(`nothing was taken within ${STALL_MS / 1e3} s`));
    socket.once("close", fail);
    stop.addEventListener("abort", stall, { once: true });
    socket.write(bodyOf("syslog", origin, lines), (error) => error ? reject(error) : resolve());
    try {
      await promise;
    } catch (error) {
      this.close();
      throw error;
    } finally {
      socket.off("close", fail);
      stop.removeEventListener("abort", stall);
    }
  }
  close() {
    this.#socket?.destroy();
    this.#socket = null;
  }
  async #connected(signal) {
    if (this.#socket && !this.#socket.destroyed && this.#socket.writable) return this.#socket;
    const host = bareHost(this.#url.hostname);
    const port = Number(this.#url.port);
    assertPlace(host, port, TARGETS);
    const isTls = this.#url.protocol === "tls:";
    const options = { host, port, lookup: judgedLookup(port, TARGETS) };
    const name = isIP(host) === 0 ? { servername: host } : {};
    const socket = isTls ? connect({ ...options, ...name }) : connect$1(options);
    socket.on("error", () => {
    });
    socket.resume().on("end", () => socket.destroy());
    this.#socket = socket;
    await once(socket, isTls ? "secureConnect" : "connect", {
      signal: AbortSignal.any([signal, AbortSignal.timeout(STALL_MS)])
    }).catch((error) => {
      this.close();
      throw error;
    });
    return socket;
  }
}

const log = logger("log drains");
const BATCH_LINES = 1e3;
const BATCH_BYTES = 512 * 1024;
const GATHER_MS = 500;
const FIRST_PAUSE_MS = 1e3;
const LONGEST_PAUSE_MS = 6e4;
const JITTER = 0.2;
class Drain {
  #id;
  #target;
  #stop = new AbortController();
  #services = /* @__PURE__ */ new Map();
  #failures = 0;
  constructor(row) {
    this.#id = row.id;
    const { url, token } = openTarget(row);
    this.#target = openDrainTarget(row.kind, url, token);
  }
  /** Takes up the services that are new. `isNew` ones have printed nothing that belongs to this drain before. */
  follow(row, startsNow) {
    for (const id of servicesOf(row)) {
      if (this.#services.has(id)) continue;
      this.#services.set(
        id,
        this.#run(id, startsNow).finally(() => this.#services.delete(id))
      );
    }
  }
  /** Ends the sending; what is under way is sent again by the next start. */
  async stop() {
    this.#stop.abort();
    await Promise.all(this.#services.values());
    this.#target.close();
  }
  async #run(serviceId, startsNow) {
    const own = serviceLog(serviceId);
    const stop = AbortSignal.any([this.#stop.signal, own.removed]);
    const reading = { reader: new ForwardReader(), maxLines: BATCH_LINES, record: null };
    while (!stop.aborted) {
      try {
        if (placeOf(this.#id, serviceId) === null)
          beginAt(this.#id, serviceId, startsNow ? await own.end() : 0);
        const more = own.grown.wait(stop);
        if (await this.#sendNext(reading, serviceId, stop)) continue;
        await more;
        await setTimeout(GATHER_MS, void 0, { signal: stop });
      } catch (error) {
        if (!stop.aborted) await this.#pause(messageOf(error), stop);
      }
    }
    try {
      this.#record(reading);
    } catch (error) {
      log.warn("lines may be sent again", { drain: this.#id, error: messageOf(error) });
    }
  }
  /** Sends what comes next; answers whether there was anything. Throws when it is to be tried again. */
  async #sendNext(reading, serviceId, stop) {
    this.#record(reading);
    const place = placeOf(this.#id, serviceId);
    const origin = originOf(serviceId);
    if (place === null || !origin) return false;
    const slices = await serviceLog(serviceId).stored();
    const batch = await reading.reader.next(slices, place, reading.maxLines, BATCH_BYTES);
    if (!batch) return false;
    if (batch.first > place) this.#sayDropped(serviceId, batch.first, batch.first - place);
    const lines = linesIn(batch.text.toString("utf8")).map((line) => JSON.parse(line));
    const next = batch.first + batch.count;
    try {
      await this.#target.send(origin, lines, stop);
      reading.record = () => recordSent(this.#id, serviceId, next, lines.length);
      this.#record(reading);
      reading.maxLines = Math.min(BATCH_LINES, reading.maxLines * 2);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (error.isTooLarge && batch.count > 1) reading.maxLines = Math.ceil(batch.count / 2);
      else this.#sayRefused(serviceId, next, batch.count, error.message);
    }
    this.#failures = 0;
    return true;
  }
  #record(reading) {
    reading.record?.();
    reading.record = null;
  }
  async #pause(error, stop) {
    try {
      recordDelivery(this.#id, { status: "failed", lines: 0, error });
      if (this.#tellError(error))
        log.warn("a log drain cannot be sent to; it is tried again", { drain: this.#id, error });
    } catch (fault) {
      log.error("a log drain cannot be sent to, nor be told so", { drain: this.#id, error: messageOf(fault) });
    }
    const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#failures++);
    await setTimeout(pauseMs * (1 + Math.random() * JITTER), void 0, { signal: stop }).catch(() => {
    });
  }
  /** Shows an error at the drain; answers whether it is another than before. */
  #tellError(error) {
    const row = drains.get(this.#id);
    if (!row || row.last_error === error) return false;
    drains.update(this.#id, { last_error: error });
    return true;
  }
  #sayRefused(serviceId, next, dropped, error) {
    recordDropped(this.#id, serviceId, next, dropped, error);
    if (this.#tellError(error))
      log.warn("a log drain refuses lines; they are left out", { drain: this.#id, service: serviceId, error });
  }
  #sayDropped(serviceId, next, dropped) {
    recordDropped(this.#id, serviceId, next, dropped, "they were removed before they were sent");
    log.warn("lines were removed before a log drain has sent them", {
      drain: this.#id,
      service: serviceId,
      dropped
    });
  }
}
async function testDrain(row, signal) {
  const { url, token } = openTarget(row);
  const target = openDrainTarget(row.kind, url, token);
  const line = {
    ts: (/* @__PURE__ */ new Date()).toISOString(),
    stream: "system",
    line: `a test of the log drain ${row.name}`
  };
  try {
    await target.send({ serviceId: "none", service: "deployer", environment: "none" }, [line], signal);
    return { ok: true, error: null };
  } catch (error) {
    return { ok: false, error: messageOf(error) };
  } finally {
    target.close();
  }
}
function originOf(serviceId) {
  const service = getService(serviceId);
  return service ? { serviceId, service: service.name, environment: environmentName(service.environment_id) } : null;
}

export { Drain as D, testDrain as t };
