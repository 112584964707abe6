import { _ as setResponseStatus, $ as setResponseHeader } from '../nitro/nitro.mjs';
import { c as compress, L as LEAST_COMPRESSED_BYTES, e as encodingFor } from './compression.mjs';

const FIRST_BYTES = 16 * 1024;
class Gathered {
  #buffer = Buffer.alloc(0);
  #size = 0;
  add(piece) {
    const size = this.#size + piece.length;
    if (size > this.#buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(FIRST_BYTES, size, 2 * this.#buffer.length));
      this.#buffer.copy(larger, 0, 0, this.#size);
      this.#buffer = larger;
    }
    piece.copy(this.#buffer, this.#size);
    this.#size = size;
  }
  /** Everything so far, valid until the next piece. */
  get bytes() {
    return this.#buffer.subarray(0, this.#size);
  }
}

async function sendJson(event, status, value) {
  setResponseStatus(event, status);
  const bytes = jsonBytes(value);
  const compressed = event.method === "GET" ? (encoding) => compress(bytes, encoding) : null;
  await sendBytes(event, bytes, "application/json", compressed);
}
function jsonBytes(value) {
  if (!Array.isArray(value)) return Buffer.from(JSON.stringify(value));
  const gathered = new Gathered();
  gathered.add(Buffer.from("["));
  for (const [index, item] of value.entries())
    gathered.add(Buffer.from(`${index === 0 ? "" : ","}${JSON.stringify(item)}`));
  gathered.add(Buffer.from("]"));
  return gathered.bytes;
}
class ConstantText {
  #bytes;
  #type;
  #compressed = /* @__PURE__ */ new Map();
  constructor(text, type) {
    this.#bytes = typeof text === "string" ? Buffer.from(text) : text;
    this.#type = type;
  }
  /** Sends it as the whole answer. */
  async send(event) {
    await sendBytes(event, this.#bytes, this.#type, (encoding) => this.#compress(encoding));
  }
  #compress(encoding) {
    const made = this.#compressed.get(encoding) ?? compress(this.#bytes, encoding);
    this.#compressed.set(encoding, made);
    return made;
  }
}
async function sendBytes(event, bytes, type, compressed) {
  setResponseHeader(event, "content-type", type);
  let body = bytes;
  if (compressed && bytes.length > LEAST_COMPRESSED_BYTES) {
    setResponseHeader(event, "vary", "accept-encoding");
    const encoding = encodingFor(event.node.req.headers["accept-encoding"]);
    if (encoding) {
      setResponseHeader(event, "content-encoding", encoding);
      body = await compressed(encoding);
    }
  }
  setResponseHeader(event, "content-length", body.length);
  event.node.res.end(body);
}

export { ConstantText as C, Gathered as G, jsonBytes as j, sendJson as s };
