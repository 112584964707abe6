import { promisify } from 'node:util';
import { constants, gzip, brotliCompress } from 'node:zlib';

const LEAST_COMPRESSED_BYTES = 1024;
const BROTLI_QUALITY = 4;
const brotliAsync = promisify(brotliCompress);
const gzipAsync = promisify(gzip);
function compress(bytes, encoding) {
  if (encoding === "gzip") return gzipAsync(bytes);
  return brotliAsync(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length
    }
  });
}
function encodingFor(accepted) {
  const weights = /* @__PURE__ */ new Map();
  for (const part of (accepted ?? "").toLowerCase().split(",")) {
    const [name = "", ...parameters] = part.split(";").map((text) => text.trim());
    const weight = parameters.find((parameter) => parameter.startsWith("q="))?.slice("q=".length);
    weights.set(name, weight === void 0 ? 1 : Number(weight) || 0);
  }
  const weightOf = (name) => weights.get(name) ?? weights.get("*") ?? 0;
  const best = weightOf("br") >= weightOf("gzip") ? "br" : "gzip";
  return weightOf(best) > 0 ? best : null;
}

export { LEAST_COMPRESSED_BYTES as L, compress as c, encodingFor as e };
