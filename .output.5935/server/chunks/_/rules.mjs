import { A as AppError } from '../nitro/nitro.mjs';
import { p as parseValue, R as ReferenceFault, E as ESCAPE_HINT } from './references.mjs';

const KEY_PATTERN = /^[A-Za-z_][A-Za-z0-9_]*$/;
const MAX_KEY_CHARACTERS = 256;
const MAX_VALUE_BYTES = 64 * 1024;
const MAX_VARIABLES = 1e3;
const MAX_TOTAL_BYTES = 512 * 1024;
const RESERVED_PREFIX = "DEPLOYER_";
function listFault(variables) {
  const seen = /* @__PURE__ */ new Set();
  for (const [index, { key, value }] of variables.entries()) {
    const message2 = keyFault(key) ?? valueFault(value) ?? (seen.has(key) ? `${key} stands twice` : null);
    if (message2 !== null) return { path: [index], message: message2 };
    seen.add(key);
  }
  const message = sizeFault(entriesOf(variables));
  return message === null ? null : { path: [], message };
}
function assertSize(variables, path) {
  const fault = sizeFault(entriesOf(variables));
  if (fault !== null) throw new AppError("invalid_request", `${path}: ${fault}`);
}
function keyFault(key) {
  if (key.length > MAX_KEY_CHARACTERS) return `key must have at most ${MAX_KEY_CHARACTERS} characters`;
  if (!KEY_PATTERN.test(key)) return "key must hold letters, digits and _ only, and not start with a digit";
  return key.startsWith(RESERVED_PREFIX) ? `key must not start with ${RESERVED_PREFIX}, which the server sets itself` : null;
}
function sizeFault(variables) {
  let count = 0;
  let total = 0;
  for (const [key, value] of variables) {
    count++;
    total += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (count > MAX_VARIABLES) return `must have at most ${MAX_VARIABLES} variables, not ${count}`;
  return total > MAX_TOTAL_BYTES ? `must be at most ${MAX_TOTAL_BYTES / 1024} KiB together` : null;
}
function valueFault(value) {
  if (value.includes("\0")) return "value must not contain NUL";
  if (!value.isWellFormed()) return "value must not contain half of a surrogate pair, which UTF-8 cannot hold";
  if (Buffer.byteLength(value) > MAX_VALUE_BYTES) return `value must be at most ${MAX_VALUE_BYTES / 1024} KiB`;
  try {
    parseValue(value);
    return null;
  } catch (error) {
    if (!(error instanceof ReferenceFault)) throw error;
    return `value ${error.message}; ${ESCAPE_HINT}`;
  }
}
function patchVariables(current, set, unset) {
  const result = new Map([...entriesOf(current), ...entriesOf(set)]);
  for (const key of unset) result.delete(key);
  return [...result].map(([key, value]) => ({ key, value }));
}
function entriesOf(variables) {
  return variables.map(({ key, value }) => [key, value]);
}

export { KEY_PATTERN as K, MAX_VALUE_BYTES as M, assertSize as a, MAX_KEY_CHARACTERS as b, MAX_VARIABLES as c, keyFault as k, listFault as l, patchVariables as p, sizeFault as s, valueFault as v };
