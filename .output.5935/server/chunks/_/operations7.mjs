import { b as tellDatastore } from './changes.mjs';
import { A as AppError, m as messageOf, J as useContext, E as useDatabase, F as newId, N as isId } from '../nitro/nitro.mjs';
import { g as getDatastore } from './store7.mjs';
import { f as findEnvironment } from './store.mjs';
import { t as tryMove } from './machine.mjs';
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { request as request$1 } from 'node:http';
import { request } from 'node:https';
import { setTimeout } from 'node:timers/promises';
import { AwsV4Signer } from 'aws4fetch';
import { a as answerOf } from './answer-of.mjs';
import { K as KINDS } from './kinds.mjs';
import { h as hasBackupFile, b as backupPath, d as backupMachine, r as removeBackupFiles } from './states4.mjs';
import { d as setBackupCopy, e as surplusBackups, h as setBackupFile, b as runningBackup, j as insertBackup, g as getBackup, l as listBackups, f as forgetSpareObject, a as insertSpareObject, k as deleteBackupRow, m as isBeingRestored } from './operations5.mjs';

const SILENCE_MS = 6e4;
const PAUSES_MS = [500, 2e3, 5e3];
const MAX_ANSWER_BYTES = 1024 * 1024;
const MAX_MESSAGE_CHARACTERS = 500;
const EMPTY_SHA256 = createHash("sha256").digest("hex");
class Refusal extends Error {
  status;
  code;
  constructor(status, code, message) {
    super(`${code}: ${message}`.slice(0, MAX_MESSAGE_CHARACTERS));
    this.status = status;
    this.code = code;
  }
}
async function ask(options, asked, signal) {
  for (let tries = 0; ; tries++) {
    try {
      const answer = await send(options, asked, signal);
      if (answer.statusCode >= 200 && answer.statusCode < 300) return answer;
      throw refusalOf(answer.statusCode, await textOf(answer));
    } catch (error) {
      signal.throwIfAborted();
      const pauseMs = PAUSES_MS[tries];
      if (pauseMs === void 0 || !isPassing(error)) throw readable(options, error);
      await setTimeout(pauseMs, void 0, { signal });
    }
  }
}
async function askText(options, asked, signal) {
  const text = await textOf(await ask(options, asked, signal)).catch((error) => {
    throw readable(options, error);
  });
  if (/<Error>/.test(text)) throw readable(options, refusalOf(200, text));
  return text;
}
function elements(xml, name) {
  return xml.split(`<${name}>`).slice(1).map((rest) => unescape(rest.split(`</${name}>`)[0]));
}
function textBody(text) {
  const bytes = Buffer.from(text);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  return { size: bytes.length, sha256, pieces: () => Readable.from([bytes]) };
}
async function send({ accessKeyId, secretAccessKey, region }, { method, url, body, range }, signal) {
  const headers = { "x-amz-content-sha256": body?.sha256 ?? EMPTY_SHA256 };
  const credentials = { accessKeyId, secretAccessKey, ...region !== null && { region } };
  const signed = await new AwsV4Signer({ method, url, headers, service: "s3", ...credentials }).sign();
  const request$2 = signed.url.protocol === "https:" ? request : request$1;
  const asked = request$2(signed.url, {
    method,
    headers: {
      ...Object.fromEntries(signed.headers),
      "content-length": body?.size ?? 0,
      ...range && { range: `bytes=${range.start}-${range.end - 1}` }
    },
    signal,
    timeout: SILENCE_MS
  });
  asked.on("timeout", () => asked.destroy(new Error("it was silent for a minute")));
  const answered = answerOf(asked);
  if (body) sendBody(asked, body).catch((error) => asked.destroy(error));
  else asked.end();
  return await answered;
}
async function sendBody(request, { pieces }) {
  for await (const piece of pieces()) {
    await written(request, piece);
    if (request.destroyed) return;
  }
  request.end();
}
function written(request, piece) {
  return new Promise((resolve) => {
    request.once("close", resolve);
    request.write(piece, () => {
      request.off("close", resolve);
      resolve();
    });
  });
}
async function textOf(answer) {
  let text = "";
  for await (const chunk of answer.setEncoding("utf8")) {
    text += chunk;
    if (text.length > MAX_ANSWER_BYTES) throw new Error("it answered with more than a list of uploads");
  }
  return text;
}
function refusalOf(status, text) {
  const [code = `status ${status}`] = elements(text, "Code");
  const [message = "it gave no reason"] = elements(text, "Message");
  return new Refusal(status, code, message);
}
function isPassing(error) {
  if (!(error instanceof Refusal)) return true;
  return error.status >= 500 || error.status === 429 || error.code === "RequestTimeout";
}
function readable({ url }, error) {
  const isMissing = error instanceof Refusal && ["NoSuchKey", "NoSuchUpload"].includes(error.code);
  const what = error instanceof Refusal ? "refused" : "cannot be reached";
  return new AppError(
    isMissing ? "not_found" : "io_error",
    `the bucket ${url} ${what}: ${messageOf(error)}`,
    {
      cause: error
    }
  );
}
const ENTITIES = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
function unescape(text) {
  return text.replace(/&(amp|lt|gt|quot|apos);/g, (_, name) => ENTITIES[name]);
}

const MIB = 1024 * 1024;
const PART_BYTES = 16 * MIB;
const PIECE_BYTES = 256 * 1024;
const MAX_PARTS = 1e4;
const ABORT_MS = 5e3;
function useBucket() {
  const { backupBucket } = useContext().options;
  return backupBucket && new Bucket(backupBucket);
}
class Bucket {
  #options;
  constructor(options) {
    this.#options = options;
  }
  /** The address of the object of this name. */
  urlOf(name) {
    return `${this.#options.url}/${name}`;
  }
  /** Whether an address is one of this place: no other is ever asked for, since only this one's keys are known. */
  holds(url) {
    return url.startsWith(`${this.#options.url}/`);
  }
  /** Writes a file to an address; the store checks what arrives. Throws `io_error`; nothing is there then. */
  async put(url, file, signal) {
    if (file.size > PART_BYTES) return this.#putInParts(url, file, signal);
    const whole = createHash("sha256");
    const body = await partBody(file, 0, file.size, whole, signal);
    assertSame(file, whole);
    await askText(this.#options, { method: "PUT", url, body }, signal);
  }
  /**
   * Reads an object, or a part of it; `size` is of all of it. Throws `io_error`, or `not_found` when there is none.
   */
  async get(url, signal, range = null) {
    const answer = await ask(this.#options, { method: "GET", url, ...range && { range } }, signal);
    const whole = { size: Number(answer.headers["content-length"]), stream: answer };
    if (!range) return whole;
    if (answer.statusCode === 200) return { ...whole, stream: partOf(answer, range) };
    const [begins, size] = (answer.headers["content-range"] ?? "").split("/");
    if (begins === `bytes ${range.start}-${range.end - 1}`) return { size: Number(size), stream: answer };
    answer.destroy();
    throw new AppError("io_error", `the bucket was asked for a part of ${url} and sent another`);
  }
  /** Removes what there is at an address, uploads that were never finished too. Throws `io_error`. */
  async remove(url, signal) {
    const { origin, pathname } = new URL(url);
    const [, bucket = "", ...path] = pathname.split("/");
    const key = path.join("/");
    const list = `${origin}/${bucket}?uploads&prefix=${encodeURIComponent(key)}`;
    for (const upload of elements(
      await askText(this.#options, { method: "GET", url: list }, signal),
      "Upload"
    ))
      if (elements(upload, "Key")[0] === key) await this.#abort(url, elements(upload, "UploadId")[0], signal);
    await askText(this.#options, { method: "DELETE", url }, signal).catch(unlessMissing);
  }
  async #putInParts(url, file, signal) {
    const begun = await askText(this.#options, { method: "POST", url: `${url}?uploads` }, signal);
    const [upload] = elements(begun, "UploadId");
    if (upload === void 0) throw new AppError("io_error", "the bucket began an upload without an id");
    try {
      const tags = await this.#putParts(`${url}?uploadId=${encodeURIComponent(upload)}`, file, signal);
      const list = tags.map((tag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>${tag}</ETag></Part>`);
      const body = textBody(`<CompleteMultipartUpload>${list.join("")}</CompleteMultipartUpload>`);
      const whole = `${url}?uploadId=${encodeURIComponent(upload)}`;
      await askText(this.#options, { method: "POST", url: whole, body }, signal);
    } catch (error) {
      await this.#abort(url, upload, AbortSignal.timeout(ABORT_MS)).catch(() => {
      });
      throw error;
    }
  }
  /** Sends the parts of a file one after the other; answers with what the store calls each. */
  async #putParts(url, file, signal) {
    const partBytes = Math.max(PART_BYTES, Math.ceil(file.size / MAX_PARTS / MIB) * MIB);
    const whole = createHash("sha256");
    const tags = [];
    for (let start = 0; start < file.size; start += partBytes) {
      const body = await partBody(file, start, Math.min(start + partBytes, file.size), whole, signal);
      const part = `${url}&partNumber=${tags.length + 1}`;
      const answer = await ask(this.#options, { method: "PUT", url: part, body }, signal);
      answer.resume();
      tags.push(answer.headers.etag ?? "");
    }
    assertSame(file, whole);
    return tags;
  }
  async #abort(url, upload, signal) {
    const aborted = `${url}?uploadId=${encodeURIComponent(upload)}`;
    await askText(this.#options, { method: "DELETE", url: aborted }, signal).catch(unlessMissing);
  }
}
function partOf(stream, { start, end }) {
  const pieces = async function* () {
    let at = 0;
    for await (const piece of stream) {
      const part2 = piece.subarray(Math.max(0, start - at), Math.max(0, end - at));
      at += piece.length;
      if (part2.length > 0) yield part2;
      if (at >= end) return;
    }
  };
  const part = Readable.from(pieces(), { objectMode: false });
  return part.once("close", () => stream.destroy());
}
async function partBody({ path }, start, end, whole, signal) {
  const hash = createHash("sha256");
  for await (const piece of readPieces(path, start, end)) {
    signal.throwIfAborted();
    hash.update(piece);
    whole.update(piece);
  }
  return { size: end - start, sha256: hash.digest("hex"), pieces: () => readPieces(path, start, end) };
}
async function* readPieces(path, start, end) {
  const file = await open(path);
  try {
    const memory = Buffer.allocUnsafe(PIECE_BYTES);
    for (let at = start; at < end; ) {
      const { bytesRead } = await file.read(memory, 0, Math.min(memory.length, end - at), at);
      if (bytesRead === 0) throw new AppError("io_error", `${path} was cut off`);
      yield memory.subarray(0, bytesRead);
      at += bytesRead;
    }
  } finally {
    await file.close();
  }
}
function assertSame({ path, sha256 }, whole) {
  if (whole.digest("hex") !== sha256)
    throw new AppError("io_error", `${path} has another checksum than when it was written`);
}
function unlessMissing(error) {
  if (!(error instanceof AppError) || error.code !== "not_found") throw error;
}

function downloadOf(datastore, backup) {
  const { id, sha256, size_bytes: size } = backup;
  if (sha256 === null || size === null)
    throw new AppError("conflict", `the backup ${id} is ${backup.status}: it has no file`);
  return {
    size,
    name: downloadName(datastore, backup),
    etag: `"${sha256}"`,
    modifiedAt: backup.finished_at ?? backup.created_at,
    async open(range) {
      const isHere = hasBackupFile(id) || backup.object_url === null;
      const opened = await (isHere ? openFile(backup, range) : openCopy(backup, useContext().stopping, range));
      if (opened.size === size) return opened.stream;
      opened.stream.destroy();
      throw new AppError(
        "io_error",
        `the ${isHere ? "file" : "copy"} of the backup ${id} has ${opened.size} bytes where ${size} were written: it was changed from outside`
      );
    }
  };
}
async function openCopy({ id, object_url: url }, signal, range = null) {
  const bucket = useBucket();
  if (url === null || !bucket?.holds(url))
    throw new AppError(
      "io_error",
      `the copy of the backup ${id} at ${url} cannot be had: start the server with that --backup-s3-url`
    );
  try {
    return await bucket.get(url, signal, range);
  } catch (cause) {
    if (!(cause instanceof AppError) || cause.code !== "not_found") throw cause;
    throw new AppError("io_error", `the copy of the backup ${id} is gone from ${url}`, { cause });
  }
}
function downloadName({ name, kind }, backup) {
  const moment = new Date(backup.created_at).toISOString().slice(0, 19).replaceAll(":", "");
  return `${name}-${moment}Z.${KINDS[kind].backupExtension}`;
}
async function openFile({ id }, range) {
  const file = await open(backupPath(id)).catch((cause) => {
    throw new AppError("io_error", `the file of the backup ${id} is gone from the data directory`, { cause });
  });
  const part = range && { start: range.start, end: range.end - 1 };
  return { stream: file.createReadStream({ ...part }), size: (await file.stat()).size };
}

function findBackup(datastore, id) {
  const found = isId("backup", id) ? getBackup(id) : void 0;
  if (found?.datastore_id !== datastore.id)
    throw new AppError("not_found", `datastore ${datastore.name} has no backup ${id}`);
  return found;
}
function requestBackup(datastore) {
  if (datastore.status !== "available")
    throw new AppError(
      "conflict",
      `datastore ${datastore.name} is ${datastore.status}: a backup needs it available`
    );
  return beginBackup(datastore, "manual");
}
function beginBackup(datastore, trigger) {
  const id = newId("backup");
  useDatabase().transaction(() => {
    const running = runningBackup(datastore.id);
    if (running)
      throw new AppError("conflict", `the backup ${running.id} of datastore ${datastore.name} is running`);
    insertBackup({ id, datastore_id: datastore.id, trigger });
  });
  tellDatastore(datastore.id);
  return getBackup(id);
}
function missBackup(datastore, error) {
  insertBackup({ id: newId("backup"), datastore_id: datastore.id, trigger: "schedule", error });
  tellDatastore(datastore.id);
}
function failBackup({ id, datastore_id }, error) {
  if (tryMove(backupMachine, id, "failed", { error, finished_at: Date.now() })) tellDatastore(datastore_id);
}
function recordBackupFile({ id, datastore_id }, { size_bytes, sha256 }) {
  if (!setBackupFile(id, size_bytes, sha256)) return;
  if (useBucket() === null) succeed(id);
  tellDatastore(datastore_id);
}
function settleBackup({ id, datastore_id }) {
  succeed(id);
  tellDatastore(datastore_id);
}
function copyUrlOf(bucket, backup) {
  const datastore = getDatastore(backup.datastore_id);
  const environment = findEnvironment(datastore.environment_id);
  const folder = `${environment.name}/${datastore.name}`;
  return bucket.urlOf(`${folder}/${backup.id}-${downloadName(datastore, backup)}`);
}
function recordCopy({ id, datastore_id }, url) {
  useDatabase().transaction(() => {
    if (!setBackupCopy(id, url, null)) return;
    forgetSpareObject(url);
    succeed(id);
  });
  tellDatastore(datastore_id);
}
function recordCopyFault({ id, datastore_id }, error) {
  useDatabase().transaction(() => {
    if (setBackupCopy(id, null, error)) succeed(id);
  });
  tellDatastore(datastore_id);
}
async function deleteBackup({ id, datastore_id }) {
  useDatabase().transaction(() => {
    if (getBackup(id)?.status === "running")
      throw new AppError("conflict", `the backup ${id} is running: wait for its end`);
    if (isBeingRestored(id)) throw new AppError("conflict", `the backup ${id} is being restored`);
    forgetBackup(id);
  });
  await removeBackupFiles(id);
  tellDatastore(datastore_id);
}
async function removeSurplusBackups() {
  for (const { id, datastore_id } of surplusBackups()) {
    useDatabase().transaction(() => forgetBackup(id));
    await removeBackupFiles(id);
    tellDatastore(datastore_id);
  }
}
async function removeBackupsOf(datastoreId) {
  for (const { id } of listBackups(datastoreId)) {
    useDatabase().transaction(() => forgetBackup(id));
    await removeBackupFiles(id);
  }
}
function forgetBackup(id) {
  const url = getBackup(id)?.object_url;
  if (url) insertSpareObject(url);
  deleteBackupRow(id);
}
function succeed(id) {
  tryMove(backupMachine, id, "succeeded", { finished_at: Date.now() });
}

export { recordCopy as a, beginBackup as b, copyUrlOf as c, removeSurplusBackups as d, recordBackupFile as e, failBackup as f, removeBackupsOf as g, downloadOf as h, findBackup as i, deleteBackup as j, requestBackup as k, missBackup as m, openCopy as o, recordCopyFault as r, settleBackup as s, useBucket as u };
