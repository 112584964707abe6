import http, { STATUS_CODES } from 'node:http';
import https from 'node:https';
import { EventEmitter } from 'node:events';
import { Buffer as Buffer$1 } from 'node:buffer';
import { openSync, writeSync, fsyncSync, closeSync, renameSync, existsSync, mkdirSync, promises, chmodSync, readFileSync, statSync, rmSync } from 'node:fs';
import { dirname, resolve, join } from 'node:path';
import { createHash, randomBytes, argon2, timingSafeEqual, createHmac, createDecipheriv, createCipheriv } from 'node:crypto';
import { promisify, inspect } from 'node:util';
import { BlockList, isIPv6 } from 'node:net';
import { z } from 'zod';

const ERRORS = {
  invalid_request: 400,
  git_application_required: 400,
  git_authorization_rejected: 409,
  git_provider_unavailable: 502,
  git_remote_unreachable: 502,
  unauthorized: 401,
  invalid_credentials: 401,
  session_required: 403,
  cross_site_request: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  canceled: 409,
  precondition_failed: 412,
  payload_too_large: 413,
  range_not_satisfiable: 416,
  misdirected_request: 421,
  too_many_attempts: 429,
  database_error: 500,
  io_error: 500,
  build_failed: 500,
  internal_error: 500,
  runtime_error: 502,
  service_unavailable: 503
};
class AppError extends Error {
  name = "AppError";
  code;
  /** When to try again, for `Retry-After` (RFC 9110 section 10.2.3). */
  retryAfterSeconds;
  /** Every fault of a file, where the request held one. */
  details;
  constructor(code, message, {
    retryAfterSeconds,
    details,
    ...options
  } = {}) {
    super(message, options);
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
    this.details = details;
  }
}
function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}

const PRIVATE_FILE_MODE = 384;
const PRIVATE_DIRECTORY_MODE = 448;
function writePrivateFile(path, content) {
  makePrivateDirectory(dirname(path));
  const temporary = `${path}.${process.pid}.new`;
  const file = openSync(temporary, "w", PRIVATE_FILE_MODE);
  try {
    const bytes = typeof content === "string" ? Buffer.from(content) : content;
    for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
}
function makePrivateDirectory(path) {
  if (existsSync(path)) return;
  makePrivateDirectory(dirname(path));
  mkdirSync(path, { mode: PRIVATE_DIRECTORY_MODE });
}

const HASH_RE = /#/g;
const AMPERSAND_RE = /&/g;
const SLASH_RE = /\//g;
const EQUAL_RE = /=/g;
const PLUS_RE = /\+/g;
const ENC_CARET_RE = /%5e/gi;
const ENC_BACKTICK_RE = /%60/gi;
const ENC_PIPE_RE = /%7c/gi;
const ENC_SPACE_RE = /%20/gi;
const ENC_SLASH_RE = /%2f/gi;
function encode$1(text) {
  return encodeURI("" + text).replace(ENC_PIPE_RE, "|");
}
function encodeQueryValue(input) {
  return encode$1(typeof input === "string" ? input : JSON.stringify(input)).replace(PLUS_RE, "%2B").replace(ENC_SPACE_RE, "+").replace(HASH_RE, "%23").replace(AMPERSAND_RE, "%26").replace(ENC_BACKTICK_RE, "`").replace(ENC_CARET_RE, "^").replace(SLASH_RE, "%2F");
}
function encodeQueryKey(text) {
  return encodeQueryValue(text).replace(EQUAL_RE, "%3D");
}
function decode(text = "") {
  try {
    return decodeURIComponent("" + text);
  } catch {
    return "" + text;
  }
}
function decodePath(text) {
  return decode(text.replace(ENC_SLASH_RE, "%252F"));
}
function decodeQueryKey(text) {
  return decode(text.replace(PLUS_RE, " "));
}
function decodeQueryValue(text) {
  return decode(text.replace(PLUS_RE, " "));
}

function parseQuery(parametersString = "") {
  const object = /* @__PURE__ */ Object.create(null);
  if (parametersString[0] === "?") {
    parametersString = parametersString.slice(1);
  }
  for (const parameter of parametersString.split("&")) {
    const s = parameter.match(/([^=]+)=?(.*)/) || [];
    if (s.length < 2) {
      continue;
    }
    const key = decodeQueryKey(s[1]);
    if (key === "__proto__" || key === "constructor") {
      continue;
    }
    const value = decodeQueryValue(s[2] || "");
    if (object[key] === void 0) {
      object[key] = value;
    } else if (Array.isArray(object[key])) {
      object[key].push(value);
    } else {
      object[key] = [object[key], value];
    }
  }
  return object;
}
function encodeQueryItem(key, value) {
  if (typeof value === "number" || typeof value === "boolean") {
    value = String(value);
  }
  if (!value) {
    return encodeQueryKey(key);
  }
  if (Array.isArray(value)) {
    return value.map(
      (_value) => `${encodeQueryKey(key)}=${encodeQueryValue(_value)}`
    ).join("&");
  }
  return `${encodeQueryKey(key)}=${encodeQueryValue(value)}`;
}
function stringifyQuery(query) {
  return Object.keys(query).filter((k) => query[k] !== void 0).map((k) => encodeQueryItem(k, query[k])).filter(Boolean).join("&");
}

const PROTOCOL_STRICT_REGEX = /^[\s\w\0+.-]{2,}:([/\\]{1,2})/;
const PROTOCOL_REGEX = /^[\s\w\0+.-]{2,}:([/\\]{2})?/;
const PROTOCOL_RELATIVE_REGEX = /^([/\\]\s*){2,}[^/\\]/;
const JOIN_LEADING_SLASH_RE = /^\.?\//;
function hasProtocol(inputString, opts = {}) {
  if (typeof opts === "boolean") {
    opts = { acceptRelative: opts };
  }
  if (opts.strict) {
    return PROTOCOL_STRICT_REGEX.test(inputString);
  }
  return PROTOCOL_REGEX.test(inputString) || (opts.acceptRelative ? PROTOCOL_RELATIVE_REGEX.test(inputString) : false);
}
function hasTrailingSlash(input = "", respectQueryAndFragment) {
  {
    return input.endsWith("/");
  }
}
function withoutTrailingSlash(input = "", respectQueryAndFragment) {
  {
    return (hasTrailingSlash(input) ? input.slice(0, -1) : input) || "/";
  }
}
function withTrailingSlash(input = "", respectQueryAndFragment) {
  {
    return input.endsWith("/") ? input : input + "/";
  }
}
function hasLeadingSlash(input = "") {
  return input.startsWith("/");
}
function withLeadingSlash(input = "") {
  return hasLeadingSlash(input) ? input : "/" + input;
}
function withBase(input, base) {
  if (isEmptyURL(base) || hasProtocol(input)) {
    return input;
  }
  const _base = withoutTrailingSlash(base);
  if (input.startsWith(_base)) {
    const nextChar = input[_base.length];
    if (!nextChar || nextChar === "/" || nextChar === "?") {
      return input;
    }
  }
  return joinURL(_base, input);
}
function withoutBase(input, base) {
  if (isEmptyURL(base)) {
    return input;
  }
  const _base = withoutTrailingSlash(base);
  if (!input.startsWith(_base)) {
    return input;
  }
  const nextChar = input[_base.length];
  if (nextChar && nextChar !== "/" && nextChar !== "?") {
    return input;
  }
  const trimmed = input.slice(_base.length).replace(/^\/+/, "");
  return "/" + trimmed;
}
function withQuery(input, query) {
  const parsed = parseURL(input);
  const mergedQuery = { ...parseQuery(parsed.search), ...query };
  parsed.search = stringifyQuery(mergedQuery);
  return stringifyParsedURL(parsed);
}
function getQuery$1(input) {
  return parseQuery(parseURL(input).search);
}
function isEmptyURL(url) {
  return !url || url === "/";
}
function isNonEmptyURL(url) {
  return url && url !== "/";
}
function joinURL(base, ...input) {
  let url = base || "";
  for (const segment of input.filter((url2) => isNonEmptyURL(url2))) {
    if (url) {
      const _segment = segment.replace(JOIN_LEADING_SLASH_RE, "");
      url = withTrailingSlash(url) + _segment;
    } else {
      url = segment;
    }
  }
  return url;
}

const protocolRelative = Symbol.for("ufo:protocolRelative");
function parseURL(input = "", defaultProto) {
  const _specialProtoMatch = input.match(
    /^[\s\0]*(blob:|data:|javascript:|vbscript:)(.*)/i
  );
  if (_specialProtoMatch) {
    const [, _proto, _pathname = ""] = _specialProtoMatch;
    return {
      protocol: _proto.toLowerCase(),
      pathname: _pathname,
      href: _proto + _pathname,
      auth: "",
      host: "",
      search: "",
      hash: ""
    };
  }
  if (!hasProtocol(input, { acceptRelative: true })) {
    return parsePath(input);
  }
  const [, protocol = "", auth, hostAndPath = ""] = input.replace(/\\/g, "/").match(/^[\s\0]*([\w+.-]{2,}:)?\/\/([^/@]+@)?(.*)/) || [];
  let [, host = "", path = ""] = hostAndPath.match(/([^#/?]*)(.*)?/) || [];
  if (protocol === "file:") {
    path = path.replace(/\/(?=[A-Za-z]:)/, "");
  }
  const { pathname, search, hash } = parsePath(path);
  return {
    protocol: protocol.toLowerCase(),
    auth: auth ? auth.slice(0, Math.max(0, auth.length - 1)) : "",
    host,
    pathname,
    search,
    hash,
    [protocolRelative]: !protocol
  };
}
function parsePath(input = "") {
  const [pathname = "", search = "", hash = ""] = (input.match(/([^#?]*)(\?[^#]*)?(#.*)?/) || []).splice(1);
  return {
    pathname,
    search,
    hash
  };
}
function stringifyParsedURL(parsed) {
  const pathname = parsed.pathname || "";
  const search = parsed.search ? (parsed.search.startsWith("?") ? "" : "?") + parsed.search : "";
  const hash = parsed.hash || "";
  const auth = parsed.auth ? parsed.auth + "@" : "";
  const host = parsed.host || "";
  const proto = parsed.protocol || parsed[protocolRelative] ? (parsed.protocol || "") + "//" : "";
  return proto + auth + host + pathname + search + hash;
}

const fieldContentRegExp = /^[\u0009\u0020-\u007E\u0080-\u00FF]+$/;
function serialize$1(name, value, options) {
  const opt = options || {};
  const enc = opt.encode || encodeURIComponent;
  if (typeof enc !== "function") {
    throw new TypeError("option encode is invalid");
  }
  if (!fieldContentRegExp.test(name)) {
    throw new TypeError("argument name is invalid");
  }
  const encodedValue = enc(value);
  if (encodedValue && !fieldContentRegExp.test(encodedValue)) {
    throw new TypeError("argument val is invalid");
  }
  let str = name + "=" + encodedValue;
  if (void 0 !== opt.maxAge && opt.maxAge !== null) {
    const maxAge = opt.maxAge - 0;
    if (Number.isNaN(maxAge) || !Number.isFinite(maxAge)) {
      throw new TypeError("option maxAge is invalid");
    }
    str += "; Max-Age=" + Math.floor(maxAge);
  }
  if (opt.domain) {
    if (!fieldContentRegExp.test(opt.domain)) {
      throw new TypeError("option domain is invalid");
    }
    str += "; Domain=" + opt.domain;
  }
  if (opt.path) {
    if (!fieldContentRegExp.test(opt.path)) {
      throw new TypeError("option path is invalid");
    }
    str += "; Path=" + opt.path;
  }
  if (opt.expires) {
    if (!isDate(opt.expires) || Number.isNaN(opt.expires.valueOf())) {
      throw new TypeError("option expires is invalid");
    }
    str += "; Expires=" + opt.expires.toUTCString();
  }
  if (opt.httpOnly) {
    str += "; HttpOnly";
  }
  if (opt.secure) {
    str += "; Secure";
  }
  if (opt.priority) {
    const priority = typeof opt.priority === "string" ? opt.priority.toLowerCase() : opt.priority;
    switch (priority) {
      case "low": {
        str += "; Priority=Low";
        break;
      }
      case "medium": {
        str += "; Priority=Medium";
        break;
      }
      case "high": {
        str += "; Priority=High";
        break;
      }
      default: {
        throw new TypeError("option priority is invalid");
      }
    }
  }
  if (opt.sameSite) {
    const sameSite = typeof opt.sameSite === "string" ? opt.sameSite.toLowerCase() : opt.sameSite;
    switch (sameSite) {
      case true: {
        str += "; SameSite=Strict";
        break;
      }
      case "lax": {
        str += "; SameSite=Lax";
        break;
      }
      case "strict": {
        str += "; SameSite=Strict";
        break;
      }
      case "none": {
        str += "; SameSite=None";
        break;
      }
      default: {
        throw new TypeError("option sameSite is invalid");
      }
    }
  }
  if (opt.partitioned) {
    str += "; Partitioned";
  }
  return str;
}
function isDate(val) {
  return Object.prototype.toString.call(val) === "[object Date]" || val instanceof Date;
}

function parseSetCookie(setCookieValue, options) {
  const parts = (setCookieValue || "").split(";").filter((str) => typeof str === "string" && !!str.trim());
  const nameValuePairStr = parts.shift() || "";
  const parsed = _parseNameValuePair(nameValuePairStr);
  const name = parsed.name;
  let value = parsed.value;
  try {
    value = options?.decode === false ? value : (options?.decode || decodeURIComponent)(value);
  } catch {
  }
  const cookie = {
    name,
    value
  };
  for (const part of parts) {
    const sides = part.split("=");
    const partKey = (sides.shift() || "").trimStart().toLowerCase();
    const partValue = sides.join("=");
    switch (partKey) {
      case "expires": {
        cookie.expires = new Date(partValue);
        break;
      }
      case "max-age": {
        cookie.maxAge = Number.parseInt(partValue, 10);
        break;
      }
      case "secure": {
        cookie.secure = true;
        break;
      }
      case "httponly": {
        cookie.httpOnly = true;
        break;
      }
      case "samesite": {
        cookie.sameSite = partValue;
        break;
      }
      default: {
        cookie[partKey] = partValue;
      }
    }
  }
  return cookie;
}
function _parseNameValuePair(nameValuePairStr) {
  let name = "";
  let value = "";
  const nameValueArr = nameValuePairStr.split("=");
  if (nameValueArr.length > 1) {
    name = nameValueArr.shift();
    value = nameValueArr.join("=");
  } else {
    value = nameValuePairStr;
  }
  return { name, value };
}

const NODE_TYPES = {
  NORMAL: 0,
  WILDCARD: 1,
  PLACEHOLDER: 2
};

function createRouter$1(options = {}) {
  const ctx = {
    options,
    rootNode: createRadixNode(),
    staticRoutesMap: {}
  };
  const normalizeTrailingSlash = (p) => options.strictTrailingSlash ? p : p.replace(/\/$/, "") || "/";
  if (options.routes) {
    for (const path in options.routes) {
      insert(ctx, normalizeTrailingSlash(path), options.routes[path]);
    }
  }
  return {
    ctx,
    lookup: (path) => lookup(ctx, normalizeTrailingSlash(path)),
    insert: (path, data) => insert(ctx, normalizeTrailingSlash(path), data),
    remove: (path) => remove(ctx, normalizeTrailingSlash(path))
  };
}
function lookup(ctx, path) {
  const staticPathNode = ctx.staticRoutesMap[path];
  if (staticPathNode) {
    return staticPathNode.data;
  }
  const sections = path.split("/");
  const params = {};
  let paramsFound = false;
  let wildcardNode = null;
  let node = ctx.rootNode;
  let wildCardParam = null;
  for (let i = 0; i < sections.length; i++) {
    const section = sections[i];
    if (node.wildcardChildNode !== null) {
      wildcardNode = node.wildcardChildNode;
      wildCardParam = sections.slice(i).join("/");
    }
    const nextNode = node.children.get(section);
    if (nextNode === void 0) {
      if (node && node.placeholderChildren.length > 1) {
        const remaining = sections.length - i;
        node = node.placeholderChildren.find((c) => c.maxDepth === remaining) || null;
      } else {
        node = node.placeholderChildren[0] || null;
      }
      if (!node) {
        break;
      }
      if (node.paramName) {
        params[node.paramName] = section;
      }
      paramsFound = true;
    } else {
      node = nextNode;
    }
  }
  if ((node === null || node.data === null) && wildcardNode !== null) {
    node = wildcardNode;
    params[node.paramName || "_"] = wildCardParam;
    paramsFound = true;
  }
  if (!node) {
    return null;
  }
  if (paramsFound) {
    return {
      ...node.data,
      params: paramsFound ? params : void 0
    };
  }
  return node.data;
}
function insert(ctx, path, data) {
  let isStaticRoute = true;
  const sections = path.split("/");
  let node = ctx.rootNode;
  let _unnamedPlaceholderCtr = 0;
  const matchedNodes = [node];
  for (const section of sections) {
    let childNode;
    if (childNode = node.children.get(section)) {
      node = childNode;
    } else {
      const type = getNodeType(section);
      childNode = createRadixNode({ type, parent: node });
      node.children.set(section, childNode);
      if (type === NODE_TYPES.PLACEHOLDER) {
        childNode.paramName = section === "*" ? `_${_unnamedPlaceholderCtr++}` : section.slice(1);
        node.placeholderChildren.push(childNode);
        isStaticRoute = false;
      } else if (type === NODE_TYPES.WILDCARD) {
        node.wildcardChildNode = childNode;
        childNode.paramName = section.slice(
          3
          /* "**:" */
        ) || "_";
        isStaticRoute = false;
      }
      matchedNodes.push(childNode);
      node = childNode;
    }
  }
  for (const [depth, node2] of matchedNodes.entries()) {
    node2.maxDepth = Math.max(matchedNodes.length - depth, node2.maxDepth || 0);
  }
  node.data = data;
  if (isStaticRoute === true) {
    ctx.staticRoutesMap[path] = node;
  }
  return node;
}
function remove(ctx, path) {
  let success = false;
  const sections = path.split("/");
  let node = ctx.rootNode;
  for (const section of sections) {
    node = node.children.get(section);
    if (!node) {
      return success;
    }
  }
  if (node.data) {
    const lastSection = sections.at(-1) || "";
    node.data = null;
    if (Object.keys(node.children).length === 0 && node.parent) {
      node.parent.children.delete(lastSection);
      node.parent.wildcardChildNode = null;
      node.parent.placeholderChildren = [];
    }
    success = true;
  }
  return success;
}
function createRadixNode(options = {}) {
  return {
    type: options.type || NODE_TYPES.NORMAL,
    maxDepth: 0,
    parent: options.parent || null,
    children: /* @__PURE__ */ new Map(),
    data: options.data || null,
    paramName: options.paramName || null,
    wildcardChildNode: null,
    placeholderChildren: []
  };
}
function getNodeType(str) {
  if (str.startsWith("**")) {
    return NODE_TYPES.WILDCARD;
  }
  if (str[0] === ":" || str === "*") {
    return NODE_TYPES.PLACEHOLDER;
  }
  return NODE_TYPES.NORMAL;
}

function toRouteMatcher(router) {
  const table = _routerNodeToTable("", router.ctx.rootNode);
  return _createMatcher(table, router.ctx.options.strictTrailingSlash);
}
function _createMatcher(table, strictTrailingSlash) {
  return {
    ctx: { table },
    matchAll: (path) => _matchRoutes(path, table, strictTrailingSlash)
  };
}
function _createRouteTable() {
  return {
    static: /* @__PURE__ */ new Map(),
    wildcard: /* @__PURE__ */ new Map(),
    dynamic: /* @__PURE__ */ new Map()
  };
}
function _matchRoutes(path, table, strictTrailingSlash) {
  if (strictTrailingSlash !== true && path.endsWith("/")) {
    path = path.slice(0, -1) || "/";
  }
  const matches = [];
  for (const [key, value] of _sortRoutesMap(table.wildcard)) {
    if (path === key || path.startsWith(key + "/")) {
      matches.push(value);
    }
  }
  for (const [key, value] of _sortRoutesMap(table.dynamic)) {
    if (path.startsWith(key + "/")) {
      const subPath = "/" + path.slice(key.length).split("/").splice(2).join("/");
      matches.push(..._matchRoutes(subPath, value));
    }
  }
  const staticMatch = table.static.get(path);
  if (staticMatch) {
    matches.push(staticMatch);
  }
  return matches.filter(Boolean);
}
function _sortRoutesMap(m) {
  return [...m.entries()].sort((a, b) => a[0].length - b[0].length);
}
function _routerNodeToTable(initialPath, initialNode) {
  const table = _createRouteTable();
  function _addNode(path, node) {
    if (path) {
      if (node.type === NODE_TYPES.NORMAL && !(path.includes("*") || path.includes(":"))) {
        if (node.data) {
          table.static.set(path, node.data);
        }
      } else if (node.type === NODE_TYPES.WILDCARD) {
        table.wildcard.set(path.replace("/**", ""), node.data);
      } else if (node.type === NODE_TYPES.PLACEHOLDER) {
        const subTable = _routerNodeToTable("", node);
        if (node.data) {
          subTable.static.set("/", node.data);
        }
        table.dynamic.set(path.replace(/\/\*|\/:\w+/, ""), subTable);
        return;
      }
    }
    for (const [childPath, child] of node.children.entries()) {
      _addNode(`${path}/${childPath}`.replace("//", "/"), child);
    }
  }
  _addNode(initialPath, initialNode);
  return table;
}

function isPlainObject(value) {
  if (value === null || typeof value !== "object") {
    return false;
  }
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype && Object.getPrototypeOf(prototype) !== null) {
    return false;
  }
  if (Symbol.iterator in value) {
    return false;
  }
  if (Symbol.toStringTag in value) {
    return Object.prototype.toString.call(value) === "[object Module]";
  }
  return true;
}

function _defu(baseObject, defaults, namespace = ".", merger) {
  if (!isPlainObject(defaults)) {
    return _defu(baseObject, {}, namespace, merger);
  }
  const object = { ...defaults };
  for (const key of Object.keys(baseObject)) {
    if (key === "__proto__" || key === "constructor") {
      continue;
    }
    const value = baseObject[key];
    if (value === null || value === void 0) {
      continue;
    }
    if (merger && merger(object, key, value, namespace)) {
      continue;
    }
    if (Array.isArray(value) && Array.isArray(object[key])) {
      object[key] = [...value, ...object[key]];
    } else if (isPlainObject(value) && isPlainObject(object[key])) {
      object[key] = _defu(
        value,
        object[key],
        (namespace ? `${namespace}.` : "") + key.toString(),
        merger
      );
    } else {
      object[key] = value;
    }
  }
  return object;
}
function createDefu(merger) {
  return (...arguments_) => (
    // eslint-disable-next-line unicorn/no-array-reduce
    arguments_.reduce((p, c) => _defu(p, c, "", merger), {})
  );
}
const defu = createDefu();
const defuFn = createDefu((object, key, currentValue) => {
  if (object[key] !== void 0 && typeof currentValue === "function") {
    object[key] = currentValue(object[key]);
    return true;
  }
});

const suspectProtoRx = /"(?:_|\\u0{2}5[Ff]){2}(?:p|\\u0{2}70)(?:r|\\u0{2}72)(?:o|\\u0{2}6[Ff])(?:t|\\u0{2}74)(?:o|\\u0{2}6[Ff])(?:_|\\u0{2}5[Ff]){2}"\s*:/;
const suspectConstructorRx = /"(?:c|\\u0063)(?:o|\\u006[Ff])(?:n|\\u006[Ee])(?:s|\\u0073)(?:t|\\u0074)(?:r|\\u0072)(?:u|\\u0075)(?:c|\\u0063)(?:t|\\u0074)(?:o|\\u006[Ff])(?:r|\\u0072)"\s*:/;
const JsonSigRx = /^\s*["[{]|^\s*-?\d{1,16}(\.\d{1,17})?([Ee][+-]?\d+)?\s*$/;
function jsonParseTransform(key, value) {
  if (key === "__proto__" || key === "constructor" && value && typeof value === "object" && "prototype" in value) {
    warnKeyDropped(key);
    return;
  }
  return value;
}
function warnKeyDropped(key) {
  console.warn(`[destr] Dropping "${key}" key to prevent prototype pollution.`);
}
function destr(value, options = {}) {
  if (typeof value !== "string") {
    return value;
  }
  if (value[0] === '"' && value[value.length - 1] === '"' && value.indexOf("\\") === -1) {
    return value.slice(1, -1);
  }
  const _value = value.trim();
  if (_value.length <= 9) {
    switch (_value.toLowerCase()) {
      case "true": {
        return true;
      }
      case "false": {
        return false;
      }
      case "undefined": {
        return void 0;
      }
      case "null": {
        return null;
      }
      case "nan": {
        return Number.NaN;
      }
      case "infinity": {
        return Number.POSITIVE_INFINITY;
      }
      case "-infinity": {
        return Number.NEGATIVE_INFINITY;
      }
    }
  }
  if (!JsonSigRx.test(value)) {
    if (options.strict) {
      throw new SyntaxError("[destr] Invalid JSON");
    }
    return value;
  }
  try {
    if (suspectProtoRx.test(value) || suspectConstructorRx.test(value)) {
      if (options.strict) {
        throw new Error("[destr] Possible prototype pollution");
      }
      return JSON.parse(value, jsonParseTransform);
    }
    return JSON.parse(value);
  } catch (error) {
    if (options.strict) {
      throw error;
    }
    return value;
  }
}

function o(n){throw new Error(`${n} is not implemented yet!`)}let i$1 = class i extends EventEmitter{__unenv__={};readableEncoding=null;readableEnded=true;readableFlowing=false;readableHighWaterMark=0;readableLength=0;readableObjectMode=false;readableAborted=false;readableDidRead=false;closed=false;errored=null;readable=false;destroyed=false;static from(e,t){return new i(t)}constructor(e){super();}_read(e){}read(e){}setEncoding(e){return this}pause(){return this}resume(){return this}isPaused(){return  true}unpipe(e){return this}unshift(e,t){}wrap(e){return this}push(e,t){return  false}_destroy(e,t){this.removeAllListeners();}destroy(e){return this.destroyed=true,this._destroy(e),this}pipe(e,t){return {}}compose(e,t){throw new Error("Method not implemented.")}[Symbol.asyncDispose](){return this.destroy(),Promise.resolve()}async*[Symbol.asyncIterator](){throw o("Readable.asyncIterator")}iterator(e){throw o("Readable.iterator")}map(e,t){throw o("Readable.map")}filter(e,t){throw o("Readable.filter")}forEach(e,t){throw o("Readable.forEach")}reduce(e,t,r){throw o("Readable.reduce")}find(e,t){throw o("Readable.find")}findIndex(e,t){throw o("Readable.findIndex")}some(e,t){throw o("Readable.some")}toArray(e){throw o("Readable.toArray")}every(e,t){throw o("Readable.every")}flatMap(e,t){throw o("Readable.flatMap")}drop(e,t){throw o("Readable.drop")}take(e,t){throw o("Readable.take")}asIndexedPairs(e){throw o("Readable.asIndexedPairs")}};let l$1 = class l extends EventEmitter{__unenv__={};writable=true;writableEnded=false;writableFinished=false;writableHighWaterMark=0;writableLength=0;writableObjectMode=false;writableCorked=0;closed=false;errored=null;writableNeedDrain=false;writableAborted=false;destroyed=false;_data;_encoding="utf8";constructor(e){super();}pipe(e,t){return {}}_write(e,t,r){if(this.writableEnded){r&&r();return}if(this._data===void 0)this._data=e;else {const s=typeof this._data=="string"?Buffer$1.from(this._data,this._encoding||t||"utf8"):this._data,a=typeof e=="string"?Buffer$1.from(e,t||this._encoding||"utf8"):e;this._data=Buffer$1.concat([s,a]);}this._encoding=t,r&&r();}_writev(e,t){}_destroy(e,t){}_final(e){}write(e,t,r){const s=typeof t=="string"?this._encoding:"utf8",a=typeof t=="function"?t:typeof r=="function"?r:void 0;return this._write(e,s,a),true}setDefaultEncoding(e){return this}end(e,t,r){const s=typeof e=="function"?e:typeof t=="function"?t:typeof r=="function"?r:void 0;if(this.writableEnded)return s&&s(),this;const a=e===s?void 0:e;if(a){const u=t===s?void 0:t;this.write(a,u);}return this.writableEnded=true,this.writableFinished=true,this.emit("close"),this.emit("finish"),s&&s(),this}cork(){}uncork(){}destroy(e){return this.destroyed=true,delete this._data,this.removeAllListeners(),this}compose(e,t){throw new Error("Method not implemented.")}[Symbol.asyncDispose](){return Promise.resolve()}};const c=class{allowHalfOpen=true;_destroy;constructor(e=new i$1,t=new l$1){Object.assign(this,e),Object.assign(this,t),this._destroy=m(e._destroy,t._destroy);}};function _(){return Object.assign(c.prototype,i$1.prototype),Object.assign(c.prototype,l$1.prototype),c}function m(...n){return function(...e){for(const t of n)t(...e);}}const g=_();class A extends g{__unenv__={};bufferSize=0;bytesRead=0;bytesWritten=0;connecting=false;destroyed=false;pending=false;localAddress="";localPort=0;remoteAddress="";remoteFamily="";remotePort=0;autoSelectFamilyAttemptedAddresses=[];readyState="readOnly";constructor(e){super();}write(e,t,r){return  false}connect(e,t,r){return this}end(e,t,r){return this}setEncoding(e){return this}pause(){return this}resume(){return this}setTimeout(e,t){return this}setNoDelay(e){return this}setKeepAlive(e,t){return this}address(){return {}}unref(){return this}ref(){return this}destroySoon(){this.destroy();}resetAndDestroy(){const e=new Error("ERR_SOCKET_CLOSED");return e.code="ERR_SOCKET_CLOSED",this.destroy(e),this}}class y extends i$1{aborted=false;httpVersion="1.1";httpVersionMajor=1;httpVersionMinor=1;complete=true;connection;socket;headers={};trailers={};method="GET";url="/";statusCode=200;statusMessage="";closed=false;errored=null;readable=false;constructor(e){super(),this.socket=this.connection=e||new A;}get rawHeaders(){const e=this.headers,t=[];for(const r in e)if(Array.isArray(e[r]))for(const s of e[r])t.push(r,s);else t.push(r,e[r]);return t}get rawTrailers(){return []}setTimeout(e,t){return this}get headersDistinct(){return p(this.headers)}get trailersDistinct(){return p(this.trailers)}}function p(n){const e={};for(const[t,r]of Object.entries(n))t&&(e[t]=(Array.isArray(r)?r:[r]).filter(Boolean));return e}class w extends l$1{statusCode=200;statusMessage="";upgrading=false;chunkedEncoding=false;shouldKeepAlive=false;useChunkedEncodingByDefault=false;sendDate=false;finished=false;headersSent=false;strictContentLength=false;connection=null;socket=null;req;_headers={};constructor(e){super(),this.req=e;}assignSocket(e){e._httpMessage=this,this.socket=e,this.connection=e,this.emit("socket",e),this._flush();}_flush(){this.flushHeaders();}detachSocket(e){}writeContinue(e){}writeHead(e,t,r){e&&(this.statusCode=e),typeof t=="string"&&(this.statusMessage=t,t=void 0);const s=r||t;if(s&&!Array.isArray(s))for(const a in s)this.setHeader(a,s[a]);return this.headersSent=true,this}writeProcessing(){}setTimeout(e,t){return this}appendHeader(e,t){e=e.toLowerCase();const r=this._headers[e],s=[...Array.isArray(r)?r:[r],...Array.isArray(t)?t:[t]].filter(Boolean);return this._headers[e]=s.length>1?s:s[0],this}setHeader(e,t){return this._headers[e.toLowerCase()]=t,this}setHeaders(e){for(const[t,r]of Object.entries(e))this.setHeader(t,r);return this}getHeader(e){return this._headers[e.toLowerCase()]}getHeaders(){return this._headers}getHeaderNames(){return Object.keys(this._headers)}hasHeader(e){return e.toLowerCase()in this._headers}removeHeader(e){delete this._headers[e.toLowerCase()];}addTrailers(e){}flushHeaders(){}writeEarlyHints(e,t){typeof t=="function"&&t();}}const E=(()=>{const n=function(){};return n.prototype=Object.create(null),n})();function R(n={}){const e=new E,t=Array.isArray(n)||H(n)?n:Object.entries(n);for(const[r,s]of t)if(s){if(e[r]===void 0){e[r]=s;continue}e[r]=[...Array.isArray(e[r])?e[r]:[e[r]],...Array.isArray(s)?s:[s]];}return e}function H(n){return typeof n?.entries=="function"}function v(n={}){if(n instanceof Headers)return n;const e=new Headers;for(const[t,r]of Object.entries(n))if(r!==void 0){if(Array.isArray(r)){for(const s of r)e.append(t,String(s));continue}e.set(t,String(r));}return e}const S=new Set([101,204,205,304]);async function b(n,e){const t=new y,r=new w(t);t.url=e.url?.toString()||"/";let s;if(!t.url.startsWith("/")){const d=new URL(t.url);s=d.host,t.url=d.pathname+d.search+d.hash;}t.method=e.method||"GET",t.headers=R(e.headers||{}),t.headers.host||(t.headers.host=e.host||s||"localhost"),t.connection.encrypted=t.connection.encrypted||e.protocol==="https",t.body=e.body||null,t.__unenv__=e.context,await n(t,r);let a=r._data;(S.has(r.statusCode)||t.method.toUpperCase()==="HEAD")&&(a=null,delete r._headers["content-length"]);const u={status:r.statusCode,statusText:r.statusMessage,headers:r._headers,body:a};return t.destroy(),r.destroy(),u}async function C(n,e,t={}){try{const r=await b(n,{url:e,...t});return new Response(r.body,{status:r.status,statusText:r.statusText,headers:v(r.headers)})}catch(r){return new Response(r.toString(),{status:Number.parseInt(r.statusCode||r.code)||500,statusText:r.statusText})}}

function hasProp(obj, prop) {
  try {
    return prop in obj;
  } catch {
    return false;
  }
}

class H3Error extends Error {
  static __h3_error__ = true;
  statusCode = 500;
  fatal = false;
  unhandled = false;
  statusMessage;
  data;
  cause;
  constructor(message, opts = {}) {
    super(message, opts);
    if (opts.cause && !this.cause) {
      this.cause = opts.cause;
    }
  }
  toJSON() {
    const obj = {
      message: this.message,
      statusCode: sanitizeStatusCode(this.statusCode, 500)
    };
    if (this.statusMessage) {
      obj.statusMessage = sanitizeStatusMessage(this.statusMessage);
    }
    if (this.data !== void 0) {
      obj.data = this.data;
    }
    return obj;
  }
}
function createError$1(input) {
  if (typeof input === "string") {
    return new H3Error(input);
  }
  if (isError(input)) {
    return input;
  }
  const err = new H3Error(input.message ?? input.statusMessage ?? "", {
    cause: input.cause || input
  });
  if (hasProp(input, "stack")) {
    try {
      Object.defineProperty(err, "stack", {
        get() {
          return input.stack;
        }
      });
    } catch {
      try {
        err.stack = input.stack;
      } catch {
      }
    }
  }
  if (input.data) {
    err.data = input.data;
  }
  if (input.statusCode) {
    err.statusCode = sanitizeStatusCode(input.statusCode, err.statusCode);
  } else if (input.status) {
    err.statusCode = sanitizeStatusCode(input.status, err.statusCode);
  }
  if (input.statusMessage) {
    err.statusMessage = input.statusMessage;
  } else if (input.statusText) {
    err.statusMessage = input.statusText;
  }
  if (err.statusMessage) {
    const originalMessage = err.statusMessage;
    const sanitizedMessage = sanitizeStatusMessage(err.statusMessage);
    if (sanitizedMessage !== originalMessage) {
      console.warn(
        "[h3] Please prefer using `message` for longer error messages instead of `statusMessage`. In the future, `statusMessage` will be sanitized by default."
      );
    }
  }
  if (input.fatal !== void 0) {
    err.fatal = input.fatal;
  }
  if (input.unhandled !== void 0) {
    err.unhandled = input.unhandled;
  }
  return err;
}
function sendError(event, error, debug) {
  if (event.handled) {
    return;
  }
  const h3Error = isError(error) ? error : createError$1(error);
  const responseBody = {
    statusCode: h3Error.statusCode,
    statusMessage: h3Error.statusMessage,
    stack: [],
    data: h3Error.data
  };
  if (debug) {
    responseBody.stack = (h3Error.stack || "").split("\n").map((l) => l.trim());
  }
  if (event.handled) {
    return;
  }
  const _code = Number.parseInt(h3Error.statusCode);
  setResponseStatus(event, _code, h3Error.statusMessage);
  event.node.res.setHeader("content-type", MIMES.json);
  event.node.res.end(JSON.stringify(responseBody, void 0, 2));
}
function isError(input) {
  return input?.constructor?.__h3_error__ === true;
}

function getQuery(event) {
  return getQuery$1(event.path || "");
}
function getRouterParams(event, opts = {}) {
  let params = event.context.params || {};
  if (opts.decode) {
    params = { ...params };
    for (const key in params) {
      params[key] = decode(params[key]);
    }
  }
  return params;
}
function isMethod(event, expected, allowHead) {
  if (typeof expected === "string") {
    if (event.method === expected) {
      return true;
    }
  } else if (expected.includes(event.method)) {
    return true;
  }
  return false;
}
function assertMethod(event, expected, allowHead) {
  if (!isMethod(event, expected)) {
    throw createError$1({
      statusCode: 405,
      statusMessage: "HTTP method is not allowed."
    });
  }
}
function getRequestHeaders(event) {
  const _headers = {};
  for (const key in event.node.req.headers) {
    const val = event.node.req.headers[key];
    _headers[key] = Array.isArray(val) ? val.filter(Boolean).join(", ") : val;
  }
  return _headers;
}
function getRequestHeader(event, name) {
  const headers = getRequestHeaders(event);
  const value = headers[name.toLowerCase()];
  return value;
}
function getRequestHost(event, opts = {}) {
  if (opts.xForwardedHost) {
    const _header = event.node.req.headers["x-forwarded-host"];
    const xForwardedHost = (_header || "").split(",").shift()?.trim();
    if (xForwardedHost) {
      return xForwardedHost;
    }
  }
  return event.node.req.headers.host || "localhost";
}
function getRequestProtocol(event, opts = {}) {
  if (opts.xForwardedProto !== false && event.node.req.headers["x-forwarded-proto"] === "https") {
    return "https";
  }
  return event.node.req.connection?.encrypted ? "https" : "http";
}
function getRequestURL(event, opts = {}) {
  const host = getRequestHost(event, opts);
  const protocol = getRequestProtocol(event, opts);
  const path = (event.node.req.originalUrl || event.path).replace(
    /^[/\\]+/g,
    "/"
  );
  return new URL(path, `${protocol}://${host}`);
}

const RawBodySymbol = Symbol.for("h3RawBody");
const PayloadMethods$1 = ["PATCH", "POST", "PUT", "DELETE"];
function readRawBody(event, encoding = "utf8") {
  assertMethod(event, PayloadMethods$1);
  const _rawBody = event._requestBody || event.web?.request?.body || event.node.req[RawBodySymbol] || event.node.req.rawBody || event.node.req.body;
  if (_rawBody) {
    const promise2 = Promise.resolve(_rawBody).then((_resolved) => {
      if (Buffer.isBuffer(_resolved)) {
        return _resolved;
      }
      if (typeof _resolved.pipeTo === "function") {
        return new Promise((resolve, reject) => {
          const chunks = [];
          _resolved.pipeTo(
            new WritableStream({
              write(chunk) {
                chunks.push(chunk);
              },
              close() {
                resolve(Buffer.concat(chunks));
              },
              abort(reason) {
                reject(reason);
              }
            })
          ).catch(reject);
        });
      } else if (typeof _resolved.pipe === "function") {
        return new Promise((resolve, reject) => {
          const chunks = [];
          _resolved.on("data", (chunk) => {
            chunks.push(chunk);
          }).on("end", () => {
            resolve(Buffer.concat(chunks));
          }).on("error", reject);
        });
      }
      if (_resolved.constructor === Object) {
        return Buffer.from(JSON.stringify(_resolved));
      }
      if (_resolved instanceof URLSearchParams) {
        return Buffer.from(_resolved.toString());
      }
      if (_resolved instanceof FormData) {
        return new Response(_resolved).bytes().then((uint8arr) => Buffer.from(uint8arr));
      }
      return Buffer.from(_resolved);
    });
    return encoding ? promise2.then((buff) => buff.toString(encoding)) : promise2;
  }
  if (!Number.parseInt(event.node.req.headers["content-length"] || "") && !/\bchunked\b/i.test(
    String(event.node.req.headers["transfer-encoding"] ?? "")
  )) {
    return Promise.resolve(void 0);
  }
  const promise = event.node.req[RawBodySymbol] = new Promise(
    (resolve, reject) => {
      const bodyData = [];
      event.node.req.on("error", (err) => {
        reject(err);
      }).on("data", (chunk) => {
        bodyData.push(chunk);
      }).on("end", () => {
        resolve(Buffer.concat(bodyData));
      });
    }
  );
  const result = encoding ? promise.then((buff) => buff.toString(encoding)) : promise;
  return result;
}
function getRequestWebStream(event) {
  if (!PayloadMethods$1.includes(event.method)) {
    return;
  }
  const bodyStream = event.web?.request?.body || event._requestBody;
  if (bodyStream) {
    return bodyStream;
  }
  const _hasRawBody = RawBodySymbol in event.node.req || "rawBody" in event.node.req || "body" in event.node.req || "__unenv__" in event.node.req;
  if (_hasRawBody) {
    return new ReadableStream({
      async start(controller) {
        const _rawBody = await readRawBody(event, false);
        if (_rawBody) {
          controller.enqueue(_rawBody);
        }
        controller.close();
      }
    });
  }
  return new ReadableStream({
    start: (controller) => {
      event.node.req.on("data", (chunk) => {
        controller.enqueue(chunk);
      });
      event.node.req.on("end", () => {
        controller.close();
      });
      event.node.req.on("error", (err) => {
        controller.error(err);
      });
    }
  });
}

function handleCacheHeaders(event, opts) {
  const cacheControls = ["public", ...opts.cacheControls || []];
  let cacheMatched = false;
  if (opts.maxAge !== void 0) {
    cacheControls.push(`max-age=${+opts.maxAge}`, `s-maxage=${+opts.maxAge}`);
  }
  if (opts.modifiedTime) {
    const modifiedTime = new Date(opts.modifiedTime);
    const ifModifiedSince = event.node.req.headers["if-modified-since"];
    event.node.res.setHeader("last-modified", modifiedTime.toUTCString());
    if (ifModifiedSince && new Date(ifModifiedSince) >= modifiedTime) {
      cacheMatched = true;
    }
  }
  if (opts.etag) {
    event.node.res.setHeader("etag", opts.etag);
    const ifNonMatch = event.node.req.headers["if-none-match"];
    if (ifNonMatch === opts.etag) {
      cacheMatched = true;
    }
  }
  event.node.res.setHeader("cache-control", cacheControls.join(", "));
  if (cacheMatched) {
    event.node.res.statusCode = 304;
    if (!event.handled) {
      event.node.res.end();
    }
    return true;
  }
  return false;
}

const MIMES = {
  html: "text/html",
  json: "application/json"
};

const DISALLOWED_STATUS_CHARS = /[^\u0009\u0020-\u007E]/g;
function sanitizeStatusMessage(statusMessage = "") {
  return statusMessage.replace(DISALLOWED_STATUS_CHARS, "");
}
function sanitizeStatusCode(statusCode, defaultStatusCode = 200) {
  if (!statusCode) {
    return defaultStatusCode;
  }
  if (typeof statusCode === "string") {
    statusCode = Number.parseInt(statusCode, 10);
  }
  if (statusCode < 100 || statusCode > 999) {
    return defaultStatusCode;
  }
  return statusCode;
}

function getDistinctCookieKey(name, opts) {
  return [name, opts.domain || "", opts.path || "/"].join(";");
}
function setCookie(event, name, value, serializeOptions = {}) {
  if (!serializeOptions.path) {
    serializeOptions = { path: "/", ...serializeOptions };
  }
  const newCookie = serialize$1(name, value, serializeOptions);
  const currentCookies = splitCookiesString(
    event.node.res.getHeader("set-cookie")
  );
  if (currentCookies.length === 0) {
    event.node.res.setHeader("set-cookie", newCookie);
    return;
  }
  const newCookieKey = getDistinctCookieKey(name, serializeOptions);
  event.node.res.removeHeader("set-cookie");
  for (const cookie of currentCookies) {
    const parsed = parseSetCookie(cookie);
    const key = getDistinctCookieKey(parsed.name, parsed);
    if (key === newCookieKey) {
      continue;
    }
    event.node.res.appendHeader("set-cookie", cookie);
  }
  event.node.res.appendHeader("set-cookie", newCookie);
}
function splitCookiesString(cookiesString) {
  if (Array.isArray(cookiesString)) {
    return cookiesString.flatMap((c) => splitCookiesString(c));
  }
  if (typeof cookiesString !== "string") {
    return [];
  }
  const cookiesStrings = [];
  let pos = 0;
  let start;
  let ch;
  let lastComma;
  let nextStart;
  let cookiesSeparatorFound;
  const skipWhitespace = () => {
    while (pos < cookiesString.length && /\s/.test(cookiesString.charAt(pos))) {
      pos += 1;
    }
    return pos < cookiesString.length;
  };
  const notSpecialChar = () => {
    ch = cookiesString.charAt(pos);
    return ch !== "=" && ch !== ";" && ch !== ",";
  };
  while (pos < cookiesString.length) {
    start = pos;
    cookiesSeparatorFound = false;
    while (skipWhitespace()) {
      ch = cookiesString.charAt(pos);
      if (ch === ",") {
        lastComma = pos;
        pos += 1;
        skipWhitespace();
        nextStart = pos;
        while (pos < cookiesString.length && notSpecialChar()) {
          pos += 1;
        }
        if (pos < cookiesString.length && cookiesString.charAt(pos) === "=") {
          cookiesSeparatorFound = true;
          pos = nextStart;
          cookiesStrings.push(cookiesString.slice(start, lastComma));
          start = pos;
        } else {
          pos = lastComma + 1;
        }
      } else {
        pos += 1;
      }
    }
    if (!cookiesSeparatorFound || pos >= cookiesString.length) {
      cookiesStrings.push(cookiesString.slice(start));
    }
  }
  return cookiesStrings;
}

const defer = typeof setImmediate === "undefined" ? (fn) => fn() : setImmediate;
function send(event, data, type) {
  if (type) {
    defaultContentType(event, type);
  }
  return new Promise((resolve) => {
    defer(() => {
      if (!event.handled) {
        event.node.res.end(data);
      }
      resolve();
    });
  });
}
function sendNoContent(event, code) {
  if (event.handled) {
    return;
  }
  if (!code && event.node.res.statusCode !== 200) {
    code = event.node.res.statusCode;
  }
  const _code = sanitizeStatusCode(code, 204);
  if (_code === 204) {
    event.node.res.removeHeader("content-length");
  }
  event.node.res.writeHead(_code);
  event.node.res.end();
}
function setResponseStatus(event, code, text) {
  if (code) {
    event.node.res.statusCode = sanitizeStatusCode(
      code,
      event.node.res.statusCode
    );
  }
  if (text) {
    event.node.res.statusMessage = sanitizeStatusMessage(text);
  }
}
function defaultContentType(event, type) {
  if (type && event.node.res.statusCode !== 304 && !event.node.res.getHeader("content-type")) {
    event.node.res.setHeader("content-type", type);
  }
}
function sendRedirect(event, location, code = 302) {
  event.node.res.statusCode = sanitizeStatusCode(
    code,
    event.node.res.statusCode
  );
  event.node.res.setHeader("location", location);
  const encodedLoc = location.replace(/"/g, "%22");
  const html = `<!DOCTYPE html><html><head><meta http-equiv="refresh" content="0; url=${encodedLoc}"></head></html>`;
  return send(event, html, MIMES.html);
}
function getResponseHeader(event, name) {
  return event.node.res.getHeader(name);
}
function setResponseHeaders(event, headers) {
  for (const [name, value] of Object.entries(headers)) {
    event.node.res.setHeader(
      name,
      value
    );
  }
}
const setHeaders = setResponseHeaders;
function setResponseHeader(event, name, value) {
  event.node.res.setHeader(name, value);
}
function isStream(data) {
  if (!data || typeof data !== "object") {
    return false;
  }
  if (typeof data.pipe === "function") {
    if (typeof data._read === "function") {
      return true;
    }
    if (typeof data.abort === "function") {
      return true;
    }
  }
  if (typeof data.pipeTo === "function") {
    return true;
  }
  return false;
}
function isWebResponse(data) {
  return typeof Response !== "undefined" && data instanceof Response;
}
function sendStream(event, stream) {
  if (!stream || typeof stream !== "object") {
    throw new Error("[h3] Invalid stream provided.");
  }
  event.node.res._data = stream;
  if (!event.node.res.socket) {
    event._handled = true;
    return Promise.resolve();
  }
  if (hasProp(stream, "pipeTo") && typeof stream.pipeTo === "function") {
    return stream.pipeTo(
      new WritableStream({
        write(chunk) {
          event.node.res.write(chunk);
        }
      })
    ).then(() => {
      event.node.res.end();
    });
  }
  if (hasProp(stream, "pipe") && typeof stream.pipe === "function") {
    return new Promise((resolve, reject) => {
      stream.pipe(event.node.res);
      if (stream.on) {
        stream.on("end", () => {
          event.node.res.end();
          resolve();
        });
        stream.on("error", (error) => {
          reject(error);
        });
      }
      event.node.res.on("close", () => {
        if (stream.abort) {
          stream.abort();
        }
      });
    });
  }
  throw new Error("[h3] Invalid or incompatible stream provided.");
}
function sendWebResponse(event, response) {
  for (const [key, value] of response.headers) {
    if (key === "set-cookie") {
      event.node.res.appendHeader(key, splitCookiesString(value));
    } else {
      event.node.res.setHeader(key, value);
    }
  }
  if (response.status) {
    event.node.res.statusCode = sanitizeStatusCode(
      response.status,
      event.node.res.statusCode
    );
  }
  if (response.statusText) {
    event.node.res.statusMessage = sanitizeStatusMessage(response.statusText);
  }
  if (response.redirected) {
    event.node.res.setHeader("location", response.url);
  }
  if (!response.body) {
    event.node.res.end();
    return;
  }
  return sendStream(event, response.body);
}

const PayloadMethods = /* @__PURE__ */ new Set(["PATCH", "POST", "PUT", "DELETE"]);
const ignoredHeaders = /* @__PURE__ */ new Set([
  "transfer-encoding",
  "accept-encoding",
  "connection",
  "keep-alive",
  "upgrade",
  "expect",
  "host",
  "accept"
]);
async function proxyRequest(event, target, opts = {}) {
  let body;
  let duplex;
  if (PayloadMethods.has(event.method)) {
    if (opts.streamRequest) {
      body = getRequestWebStream(event);
      duplex = "half";
    } else {
      body = await readRawBody(event, false).catch(() => void 0);
    }
  }
  const method = opts.fetchOptions?.method || event.method;
  const fetchHeaders = mergeHeaders$1(
    getProxyRequestHeaders(event, { host: target.startsWith("/") }),
    opts.fetchOptions?.headers,
    opts.headers
  );
  return sendProxy(event, target, {
    ...opts,
    fetchOptions: {
      method,
      body,
      duplex,
      ...opts.fetchOptions,
      headers: fetchHeaders
    }
  });
}
async function sendProxy(event, target, opts = {}) {
  let response;
  try {
    response = await _getFetch(opts.fetch)(target, {
      headers: opts.headers,
      ignoreResponseError: true,
      // make $ofetch.raw transparent
      ...opts.fetchOptions
    });
  } catch (error) {
    throw createError$1({
      status: 502,
      statusMessage: "Bad Gateway",
      cause: error
    });
  }
  event.node.res.statusCode = sanitizeStatusCode(
    response.status,
    event.node.res.statusCode
  );
  event.node.res.statusMessage = sanitizeStatusMessage(response.statusText);
  const cookies = [];
  for (const [key, value] of response.headers.entries()) {
    if (key === "content-encoding") {
      continue;
    }
    if (key === "content-length") {
      continue;
    }
    if (key === "set-cookie") {
      cookies.push(...splitCookiesString(value));
      continue;
    }
    event.node.res.setHeader(key, value);
  }
  if (cookies.length > 0) {
    event.node.res.setHeader(
      "set-cookie",
      cookies.map((cookie) => {
        if (opts.cookieDomainRewrite) {
          cookie = rewriteCookieProperty(
            cookie,
            opts.cookieDomainRewrite,
            "domain"
          );
        }
        if (opts.cookiePathRewrite) {
          cookie = rewriteCookieProperty(
            cookie,
            opts.cookiePathRewrite,
            "path"
          );
        }
        return cookie;
      })
    );
  }
  if (opts.onResponse) {
    await opts.onResponse(event, response);
  }
  if (response._data !== void 0) {
    return response._data;
  }
  if (event.handled) {
    return;
  }
  if (opts.sendStream === false) {
    const data = new Uint8Array(await response.arrayBuffer());
    return event.node.res.end(data);
  }
  if (response.body) {
    for await (const chunk of response.body) {
      event.node.res.write(chunk);
    }
  }
  return event.node.res.end();
}
function getProxyRequestHeaders(event, opts) {
  const headers = /* @__PURE__ */ Object.create(null);
  const reqHeaders = getRequestHeaders(event);
  for (const name in reqHeaders) {
    if (!ignoredHeaders.has(name) || name === "host" && opts?.host) {
      headers[name] = reqHeaders[name];
    }
  }
  return headers;
}
function fetchWithEvent(event, req, init, options) {
  return _getFetch(options?.fetch)(req, {
    ...init,
    context: init?.context || event.context,
    headers: {
      ...getProxyRequestHeaders(event, {
        host: typeof req === "string" && req.startsWith("/")
      }),
      ...init?.headers
    }
  });
}
function _getFetch(_fetch) {
  if (_fetch) {
    return _fetch;
  }
  if (globalThis.fetch) {
    return globalThis.fetch;
  }
  throw new Error(
    "fetch is not available. Try importing `node-fetch-native/polyfill` for Node.js."
  );
}
function rewriteCookieProperty(header, map, property) {
  const _map = typeof map === "string" ? { "*": map } : map;
  return header.replace(
    new RegExp(`(;\\s*${property}=)([^;]+)`, "gi"),
    (match, prefix, previousValue) => {
      let newValue;
      if (previousValue in _map) {
        newValue = _map[previousValue];
      } else if ("*" in _map) {
        newValue = _map["*"];
      } else {
        return match;
      }
      return newValue ? prefix + newValue : "";
    }
  );
}
function mergeHeaders$1(defaults, ...inputs) {
  const _inputs = inputs.filter(Boolean);
  if (_inputs.length === 0) {
    return defaults;
  }
  const merged = new Headers(defaults);
  for (const input of _inputs) {
    const entries = Array.isArray(input) ? input : typeof input.entries === "function" ? input.entries() : Object.entries(input);
    for (const [key, value] of entries) {
      if (value !== void 0) {
        merged.set(key, value);
      }
    }
  }
  return merged;
}

class H3Event {
  "__is_event__" = true;
  // Context
  node;
  // Node
  web;
  // Web
  context = {};
  // Shared
  // Request
  _method;
  _path;
  _headers;
  _requestBody;
  // Response
  _handled = false;
  // Hooks
  _onBeforeResponseCalled;
  _onAfterResponseCalled;
  constructor(req, res) {
    this.node = { req, res };
  }
  // --- Request ---
  get method() {
    if (!this._method) {
      this._method = (this.node.req.method || "GET").toUpperCase();
    }
    return this._method;
  }
  get path() {
    return this._path || this.node.req.url || "/";
  }
  get headers() {
    if (!this._headers) {
      this._headers = _normalizeNodeHeaders(this.node.req.headers);
    }
    return this._headers;
  }
  // --- Respoonse ---
  get handled() {
    return this._handled || this.node.res.writableEnded || this.node.res.headersSent;
  }
  respondWith(response) {
    return Promise.resolve(response).then(
      (_response) => sendWebResponse(this, _response)
    );
  }
  // --- Utils ---
  toString() {
    return `[${this.method}] ${this.path}`;
  }
  toJSON() {
    return this.toString();
  }
  // --- Deprecated ---
  /** @deprecated Please use `event.node.req` instead. */
  get req() {
    return this.node.req;
  }
  /** @deprecated Please use `event.node.res` instead. */
  get res() {
    return this.node.res;
  }
}
function isEvent(input) {
  return hasProp(input, "__is_event__");
}
function createEvent(req, res) {
  return new H3Event(req, res);
}
function _normalizeNodeHeaders(nodeHeaders) {
  const headers = new Headers();
  for (const [name, value] of Object.entries(nodeHeaders)) {
    if (Array.isArray(value)) {
      for (const item of value) {
        headers.append(name, item);
      }
    } else if (value) {
      headers.set(name, value);
    }
  }
  return headers;
}

function defineEventHandler(handler) {
  if (typeof handler === "function") {
    handler.__is_handler__ = true;
    return handler;
  }
  const _hooks = {
    onRequest: _normalizeArray(handler.onRequest),
    onBeforeResponse: _normalizeArray(handler.onBeforeResponse)
  };
  const _handler = (event) => {
    return _callHandler(event, handler.handler, _hooks);
  };
  _handler.__is_handler__ = true;
  _handler.__resolve__ = handler.handler.__resolve__;
  _handler.__websocket__ = handler.websocket;
  return _handler;
}
function _normalizeArray(input) {
  return input ? Array.isArray(input) ? input : [input] : void 0;
}
async function _callHandler(event, handler, hooks) {
  if (hooks.onRequest) {
    for (const hook of hooks.onRequest) {
      await hook(event);
      if (event.handled) {
        return;
      }
    }
  }
  const body = await handler(event);
  const response = { body };
  if (hooks.onBeforeResponse) {
    for (const hook of hooks.onBeforeResponse) {
      await hook(event, response);
    }
  }
  return response.body;
}
const eventHandler = defineEventHandler;
function isEventHandler(input) {
  return hasProp(input, "__is_handler__");
}
function toEventHandler(input, _, _route) {
  return input;
}
function defineLazyEventHandler(factory) {
  let _promise;
  let _resolved;
  const resolveHandler = () => {
    if (_resolved) {
      return Promise.resolve(_resolved);
    }
    if (!_promise) {
      _promise = Promise.resolve(factory()).then((r) => {
        const handler2 = r.default || r;
        if (typeof handler2 !== "function") {
          throw new TypeError(
            "Invalid lazy handler result. It should be a function:",
            handler2
          );
        }
        _resolved = { handler: toEventHandler(r.default || r) };
        return _resolved;
      });
    }
    return _promise;
  };
  const handler = eventHandler((event) => {
    if (_resolved) {
      return _resolved.handler(event);
    }
    return resolveHandler().then((r) => r.handler(event));
  });
  handler.__resolve__ = resolveHandler;
  return handler;
}
const lazyEventHandler = defineLazyEventHandler;

function createApp(options = {}) {
  const stack = [];
  const handler = createAppEventHandler(stack, options);
  const resolve = createResolver(stack);
  handler.__resolve__ = resolve;
  const getWebsocket = cachedFn(() => websocketOptions(resolve, options));
  const app = {
    // @ts-expect-error
    use: (arg1, arg2, arg3) => use(app, arg1, arg2, arg3),
    resolve,
    handler,
    stack,
    options,
    get websocket() {
      return getWebsocket();
    }
  };
  return app;
}
function use(app, arg1, arg2, arg3) {
  if (Array.isArray(arg1)) {
    for (const i of arg1) {
      use(app, i, arg2, arg3);
    }
  } else if (Array.isArray(arg2)) {
    for (const i of arg2) {
      use(app, arg1, i, arg3);
    }
  } else if (typeof arg1 === "string") {
    app.stack.push(
      normalizeLayer({ ...arg3, route: arg1, handler: arg2 })
    );
  } else if (typeof arg1 === "function") {
    app.stack.push(normalizeLayer({ ...arg2, handler: arg1 }));
  } else {
    app.stack.push(normalizeLayer({ ...arg1 }));
  }
  return app;
}
function createAppEventHandler(stack, options) {
  const spacing = options.debug ? 2 : void 0;
  return eventHandler(async (event) => {
    event.node.req.originalUrl = event.node.req.originalUrl || event.node.req.url || "/";
    const _rawReqUrl = event.node.req.url || "/";
    const _reqPath = _decodePath(event._path || _rawReqUrl);
    event._path = _reqPath;
    const _needsRawUrl = _reqPath !== _rawReqUrl;
    let _layerPath;
    if (options.onRequest) {
      await options.onRequest(event);
    }
    for (const layer of stack) {
      if (layer.route.length > 1) {
        if (!_reqPath.startsWith(layer.route)) {
          continue;
        }
        _layerPath = _reqPath.slice(layer.route.length) || "/";
      } else {
        _layerPath = _reqPath;
      }
      if (layer.match && !layer.match(_layerPath, event)) {
        continue;
      }
      event._path = _layerPath;
      event.node.req.url = _needsRawUrl ? layer.route.length > 1 ? _rawReqUrl.slice(layer.route.length) || "/" : _rawReqUrl : _layerPath;
      const val = await layer.handler(event);
      const _body = val === void 0 ? void 0 : await val;
      if (_body !== void 0) {
        const _response = { body: _body };
        if (options.onBeforeResponse) {
          event._onBeforeResponseCalled = true;
          await options.onBeforeResponse(event, _response);
        }
        await handleHandlerResponse(event, _response.body, spacing);
        if (options.onAfterResponse) {
          event._onAfterResponseCalled = true;
          await options.onAfterResponse(event, _response);
        }
        return;
      }
      if (event.handled) {
        if (options.onAfterResponse) {
          event._onAfterResponseCalled = true;
          await options.onAfterResponse(event, void 0);
        }
        return;
      }
    }
    if (!event.handled) {
      throw createError$1({
        statusCode: 404,
        statusMessage: `Cannot find any path matching ${event.path || "/"}.`
      });
    }
    if (options.onAfterResponse) {
      event._onAfterResponseCalled = true;
      await options.onAfterResponse(event, void 0);
    }
  });
}
function createResolver(stack) {
  return async (path) => {
    let _layerPath;
    for (const layer of stack) {
      if (layer.route === "/" && !layer.handler.__resolve__) {
        continue;
      }
      if (!path.startsWith(layer.route)) {
        continue;
      }
      _layerPath = path.slice(layer.route.length) || "/";
      if (layer.match && !layer.match(_layerPath, void 0)) {
        continue;
      }
      let res = { route: layer.route, handler: layer.handler };
      if (res.handler.__resolve__) {
        const _res = await res.handler.__resolve__(_layerPath);
        if (!_res) {
          continue;
        }
        res = {
          ...res,
          ..._res,
          route: joinURL(res.route || "/", _res.route || "/")
        };
      }
      return res;
    }
  };
}
function normalizeLayer(input) {
  let handler = input.handler;
  if (handler.handler) {
    handler = handler.handler;
  }
  if (input.lazy) {
    handler = lazyEventHandler(handler);
  } else if (!isEventHandler(handler)) {
    handler = toEventHandler(handler, void 0, input.route);
  }
  return {
    route: withoutTrailingSlash(input.route),
    match: input.match,
    handler
  };
}
function handleHandlerResponse(event, val, jsonSpace) {
  if (val === null) {
    return sendNoContent(event);
  }
  if (val) {
    if (isWebResponse(val)) {
      return sendWebResponse(event, val);
    }
    if (isStream(val)) {
      return sendStream(event, val);
    }
    if (val.buffer) {
      return send(event, val);
    }
    if (val.arrayBuffer && typeof val.arrayBuffer === "function") {
      return val.arrayBuffer().then((arrayBuffer) => {
        return send(event, Buffer.from(arrayBuffer), val.type);
      });
    }
    if (val instanceof Error) {
      throw createError$1(val);
    }
    if (typeof val.end === "function") {
      return true;
    }
  }
  const valType = typeof val;
  if (valType === "string") {
    return send(event, val, MIMES.html);
  }
  if (valType === "object" || valType === "boolean" || valType === "number") {
    return send(event, JSON.stringify(val, void 0, jsonSpace), MIMES.json);
  }
  if (valType === "bigint") {
    return send(event, val.toString(), MIMES.json);
  }
  throw createError$1({
    statusCode: 500,
    statusMessage: `[h3] Cannot send ${valType} as response.`
  });
}
function cachedFn(fn) {
  let cache;
  return () => {
    if (!cache) {
      cache = fn();
    }
    return cache;
  };
}
function _decodePath(url) {
  const qIndex = url.indexOf("?");
  const path = qIndex === -1 ? url : url.slice(0, qIndex);
  const query = qIndex === -1 ? "" : url.slice(qIndex);
  const decodedPath = path.includes("%25") ? decodePath(path.replace(/%25/g, "%2525")) : decodePath(path);
  return decodedPath + query;
}
function websocketOptions(evResolver, appOptions) {
  return {
    ...appOptions.websocket,
    async resolve(info) {
      const url = info.request?.url || info.url || "/";
      const { pathname } = typeof url === "string" ? parseURL(url) : url;
      const resolved = await evResolver(pathname);
      return resolved?.handler?.__websocket__ || {};
    }
  };
}

const RouterMethods = [
  "connect",
  "delete",
  "get",
  "head",
  "options",
  "post",
  "put",
  "trace",
  "patch"
];
function createRouter(opts = {}) {
  const _router = createRouter$1({});
  const routes = {};
  let _matcher;
  const router = {};
  const addRoute = (path, handler, method) => {
    let route = routes[path];
    if (!route) {
      routes[path] = route = { path, handlers: {} };
      _router.insert(path, route);
    }
    if (Array.isArray(method)) {
      for (const m of method) {
        addRoute(path, handler, m);
      }
    } else {
      route.handlers[method] = toEventHandler(handler);
    }
    return router;
  };
  router.use = router.add = (path, handler, method) => addRoute(path, handler, method || "all");
  for (const method of RouterMethods) {
    router[method] = (path, handle) => router.add(path, handle, method);
  }
  const matchHandler = (path = "/", method = "get") => {
    const qIndex = path.indexOf("?");
    if (qIndex !== -1) {
      path = path.slice(0, Math.max(0, qIndex));
    }
    const matched = _router.lookup(path);
    if (!matched || !matched.handlers) {
      return {
        error: createError$1({
          statusCode: 404,
          name: "Not Found",
          statusMessage: `Cannot find any route matching ${path || "/"}.`
        })
      };
    }
    let handler = matched.handlers[method] || matched.handlers.all;
    if (!handler) {
      if (!_matcher) {
        _matcher = toRouteMatcher(_router);
      }
      const _matches = _matcher.matchAll(path).reverse();
      for (const _match of _matches) {
        if (_match.handlers[method]) {
          handler = _match.handlers[method];
          matched.handlers[method] = matched.handlers[method] || handler;
          break;
        }
        if (_match.handlers.all) {
          handler = _match.handlers.all;
          matched.handlers.all = matched.handlers.all || handler;
          break;
        }
      }
    }
    if (!handler) {
      return {
        error: createError$1({
          statusCode: 405,
          name: "Method Not Allowed",
          statusMessage: `Method ${method} is not allowed on this route.`
        })
      };
    }
    return { matched, handler };
  };
  const isPreemptive = opts.preemptive || opts.preemtive;
  router.handler = eventHandler((event) => {
    const match = matchHandler(
      event.path,
      event.method.toLowerCase()
    );
    if ("error" in match) {
      if (isPreemptive) {
        throw match.error;
      } else {
        return;
      }
    }
    event.context.matchedRoute = match.matched;
    const params = match.matched.params || {};
    event.context.params = params;
    return Promise.resolve(match.handler(event)).then((res) => {
      if (res === void 0 && isPreemptive) {
        return null;
      }
      return res;
    });
  });
  router.handler.__resolve__ = async (path) => {
    path = withLeadingSlash(path);
    const match = matchHandler(path);
    if ("error" in match) {
      return;
    }
    let res = {
      route: match.matched.path,
      handler: match.handler
    };
    if (match.handler.__resolve__) {
      const _res = await match.handler.__resolve__(path);
      if (!_res) {
        return;
      }
      res = { ...res, ..._res };
    }
    return res;
  };
  return router;
}
function toNodeListener(app) {
  const toNodeHandle = async function(req, res) {
    const event = createEvent(req, res);
    try {
      await app.handler(event);
    } catch (_error) {
      const error = createError$1(_error);
      if (!isError(_error)) {
        error.unhandled = true;
      }
      setResponseStatus(event, error.statusCode, error.statusMessage);
      if (app.options.onError) {
        await app.options.onError(error, event);
      }
      if (event.handled) {
        return;
      }
      if (error.unhandled || error.fatal) {
        console.error("[h3]", error.fatal ? "[fatal]" : "[unhandled]", error);
      }
      if (app.options.onBeforeResponse && !event._onBeforeResponseCalled) {
        await app.options.onBeforeResponse(event, { body: error });
      }
      await sendError(event, error, !!app.options.debug);
      if (app.options.onAfterResponse && !event._onAfterResponseCalled) {
        await app.options.onAfterResponse(event, { body: error });
      }
    }
  };
  return toNodeHandle;
}

function flatHooks(configHooks, hooks = {}, parentName) {
  for (const key in configHooks) {
    const subHook = configHooks[key];
    const name = parentName ? `${parentName}:${key}` : key;
    if (typeof subHook === "object" && subHook !== null) {
      flatHooks(subHook, hooks, name);
    } else if (typeof subHook === "function") {
      hooks[name] = subHook;
    }
  }
  return hooks;
}
const defaultTask = { run: (function_) => function_() };
const _createTask = () => defaultTask;
const createTask = typeof console.createTask !== "undefined" ? console.createTask : _createTask;
function serialTaskCaller(hooks, args) {
  const name = args.shift();
  const task = createTask(name);
  return hooks.reduce(
    (promise, hookFunction) => promise.then(() => task.run(() => hookFunction(...args))),
    Promise.resolve()
  );
}
function parallelTaskCaller(hooks, args) {
  const name = args.shift();
  const task = createTask(name);
  return Promise.all(hooks.map((hook) => task.run(() => hook(...args))));
}
function callEachWith(callbacks, arg0) {
  for (const callback of [...callbacks]) {
    callback(arg0);
  }
}

class Hookable {
  constructor() {
    this._hooks = {};
    this._before = void 0;
    this._after = void 0;
    this._deprecatedMessages = void 0;
    this._deprecatedHooks = {};
    this.hook = this.hook.bind(this);
    this.callHook = this.callHook.bind(this);
    this.callHookWith = this.callHookWith.bind(this);
  }
  hook(name, function_, options = {}) {
    if (!name || typeof function_ !== "function") {
      return () => {
      };
    }
    const originalName = name;
    let dep;
    while (this._deprecatedHooks[name]) {
      dep = this._deprecatedHooks[name];
      name = dep.to;
    }
    if (dep && !options.allowDeprecated) {
      let message = dep.message;
      if (!message) {
        message = `${originalName} hook has been deprecated` + (dep.to ? `, please use ${dep.to}` : "");
      }
      if (!this._deprecatedMessages) {
        this._deprecatedMessages = /* @__PURE__ */ new Set();
      }
      if (!this._deprecatedMessages.has(message)) {
        console.warn(message);
        this._deprecatedMessages.add(message);
      }
    }
    if (!function_.name) {
      try {
        Object.defineProperty(function_, "name", {
          get: () => "_" + name.replace(/\W+/g, "_") + "_hook_cb",
          configurable: true
        });
      } catch {
      }
    }
    this._hooks[name] = this._hooks[name] || [];
    this._hooks[name].push(function_);
    return () => {
      if (function_) {
        this.removeHook(name, function_);
        function_ = void 0;
      }
    };
  }
  hookOnce(name, function_) {
    let _unreg;
    let _function = (...arguments_) => {
      if (typeof _unreg === "function") {
        _unreg();
      }
      _unreg = void 0;
      _function = void 0;
      return function_(...arguments_);
    };
    _unreg = this.hook(name, _function);
    return _unreg;
  }
  removeHook(name, function_) {
    if (this._hooks[name]) {
      const index = this._hooks[name].indexOf(function_);
      if (index !== -1) {
        this._hooks[name].splice(index, 1);
      }
      if (this._hooks[name].length === 0) {
        delete this._hooks[name];
      }
    }
  }
  deprecateHook(name, deprecated) {
    this._deprecatedHooks[name] = typeof deprecated === "string" ? { to: deprecated } : deprecated;
    const _hooks = this._hooks[name] || [];
    delete this._hooks[name];
    for (const hook of _hooks) {
      this.hook(name, hook);
    }
  }
  deprecateHooks(deprecatedHooks) {
    Object.assign(this._deprecatedHooks, deprecatedHooks);
    for (const name in deprecatedHooks) {
      this.deprecateHook(name, deprecatedHooks[name]);
    }
  }
  addHooks(configHooks) {
    const hooks = flatHooks(configHooks);
    const removeFns = Object.keys(hooks).map(
      (key) => this.hook(key, hooks[key])
    );
    return () => {
      for (const unreg of removeFns.splice(0, removeFns.length)) {
        unreg();
      }
    };
  }
  removeHooks(configHooks) {
    const hooks = flatHooks(configHooks);
    for (const key in hooks) {
      this.removeHook(key, hooks[key]);
    }
  }
  removeAllHooks() {
    for (const key in this._hooks) {
      delete this._hooks[key];
    }
  }
  callHook(name, ...arguments_) {
    arguments_.unshift(name);
    return this.callHookWith(serialTaskCaller, name, ...arguments_);
  }
  callHookParallel(name, ...arguments_) {
    arguments_.unshift(name);
    return this.callHookWith(parallelTaskCaller, name, ...arguments_);
  }
  callHookWith(caller, name, ...arguments_) {
    const event = this._before || this._after ? { name, args: arguments_, context: {} } : void 0;
    if (this._before) {
      callEachWith(this._before, event);
    }
    const result = caller(
      name in this._hooks ? [...this._hooks[name]] : [],
      arguments_
    );
    if (result instanceof Promise) {
      return result.finally(() => {
        if (this._after && event) {
          callEachWith(this._after, event);
        }
      });
    }
    if (this._after && event) {
      callEachWith(this._after, event);
    }
    return result;
  }
  beforeEach(function_) {
    this._before = this._before || [];
    this._before.push(function_);
    return () => {
      if (this._before !== void 0) {
        const index = this._before.indexOf(function_);
        if (index !== -1) {
          this._before.splice(index, 1);
        }
      }
    };
  }
  afterEach(function_) {
    this._after = this._after || [];
    this._after.push(function_);
    return () => {
      if (this._after !== void 0) {
        const index = this._after.indexOf(function_);
        if (index !== -1) {
          this._after.splice(index, 1);
        }
      }
    };
  }
}
function createHooks() {
  return new Hookable();
}

const s=globalThis.Headers,i=globalThis.AbortController,l=globalThis.fetch||(()=>{throw new Error("[node-fetch-native] Failed to fetch: `globalThis.fetch` is not available!")});

class FetchError extends Error {
  constructor(message, opts) {
    super(message, opts);
    this.name = "FetchError";
    if (opts?.cause && !this.cause) {
      this.cause = opts.cause;
    }
  }
}
function createFetchError(ctx) {
  const errorMessage = ctx.error?.message || ctx.error?.toString() || "";
  const method = ctx.request?.method || ctx.options?.method || "GET";
  const url = ctx.request?.url || String(ctx.request) || "/";
  const requestStr = `[${method}] ${JSON.stringify(url)}`;
  const statusStr = ctx.response ? `${ctx.response.status} ${ctx.response.statusText}` : "<no response>";
  const message = `${requestStr}: ${statusStr}${errorMessage ? ` ${errorMessage}` : ""}`;
  const fetchError = new FetchError(
    message,
    ctx.error ? { cause: ctx.error } : void 0
  );
  for (const key of ["request", "options", "response"]) {
    Object.defineProperty(fetchError, key, {
      get() {
        return ctx[key];
      }
    });
  }
  for (const [key, refKey] of [
    ["data", "_data"],
    ["status", "status"],
    ["statusCode", "status"],
    ["statusText", "statusText"],
    ["statusMessage", "statusText"]
  ]) {
    Object.defineProperty(fetchError, key, {
      get() {
        return ctx.response && ctx.response[refKey];
      }
    });
  }
  return fetchError;
}

const payloadMethods = new Set(
  Object.freeze(["PATCH", "POST", "PUT", "DELETE"])
);
function isPayloadMethod(method = "GET") {
  return payloadMethods.has(method.toUpperCase());
}
function isJSONSerializable(value) {
  if (value === void 0) {
    return false;
  }
  const t = typeof value;
  if (t === "string" || t === "number" || t === "boolean" || t === null) {
    return true;
  }
  if (t !== "object") {
    return false;
  }
  if (Array.isArray(value)) {
    return true;
  }
  if (value.buffer) {
    return false;
  }
  if (value instanceof FormData || value instanceof URLSearchParams) {
    return false;
  }
  return value.constructor && value.constructor.name === "Object" || typeof value.toJSON === "function";
}
const textTypes = /* @__PURE__ */ new Set([
  "image/svg",
  "application/xml",
  "application/xhtml",
  "application/html"
]);
const JSON_RE = /^application\/(?:[\w!#$%&*.^`~-]*\+)?json(;.+)?$/i;
function detectResponseType(_contentType = "") {
  if (!_contentType) {
    return "json";
  }
  const contentType = _contentType.split(";").shift() || "";
  if (JSON_RE.test(contentType)) {
    return "json";
  }
  if (contentType === "text/event-stream") {
    return "stream";
  }
  if (textTypes.has(contentType) || contentType.startsWith("text/")) {
    return "text";
  }
  return "blob";
}
function resolveFetchOptions(request, input, defaults, Headers) {
  const headers = mergeHeaders(
    input?.headers ?? request?.headers,
    defaults?.headers,
    Headers
  );
  let query;
  if (defaults?.query || defaults?.params || input?.params || input?.query) {
    query = {
      ...defaults?.params,
      ...defaults?.query,
      ...input?.params,
      ...input?.query
    };
  }
  return {
    ...defaults,
    ...input,
    query,
    params: query,
    headers
  };
}
function mergeHeaders(input, defaults, Headers) {
  if (!defaults) {
    return new Headers(input);
  }
  const headers = new Headers(defaults);
  if (input) {
    for (const [key, value] of Symbol.iterator in input || Array.isArray(input) ? input : new Headers(input)) {
      headers.set(key, value);
    }
  }
  return headers;
}
async function callHooks(context, hooks) {
  if (hooks) {
    if (Array.isArray(hooks)) {
      for (const hook of hooks) {
        await hook(context);
      }
    } else {
      await hooks(context);
    }
  }
}

const retryStatusCodes = /* @__PURE__ */ new Set([
  408,
  // Request Timeout
  409,
  // Conflict
  425,
  // Too Early (Experimental)
  429,
  // Too Many Requests
  500,
  // Internal Server Error
  502,
  // Bad Gateway
  503,
  // Service Unavailable
  504
  // Gateway Timeout
]);
const nullBodyResponses = /* @__PURE__ */ new Set([101, 204, 205, 304]);
function createFetch(globalOptions = {}) {
  const {
    fetch = globalThis.fetch,
    Headers = globalThis.Headers,
    AbortController = globalThis.AbortController
  } = globalOptions;
  async function onError(context) {
    const isAbort = context.error && context.error.name === "AbortError" && !context.options.timeout || false;
    if (context.options.retry !== false && !isAbort) {
      let retries;
      if (typeof context.options.retry === "number") {
        retries = context.options.retry;
      } else {
        retries = isPayloadMethod(context.options.method) ? 0 : 1;
      }
      const responseCode = context.response && context.response.status || 500;
      if (retries > 0 && (Array.isArray(context.options.retryStatusCodes) ? context.options.retryStatusCodes.includes(responseCode) : retryStatusCodes.has(responseCode))) {
        const retryDelay = typeof context.options.retryDelay === "function" ? context.options.retryDelay(context) : context.options.retryDelay || 0;
        if (retryDelay > 0) {
          await new Promise((resolve) => setTimeout(resolve, retryDelay));
        }
        return $fetchRaw(context.request, {
          ...context.options,
          retry: retries - 1
        });
      }
    }
    const error = createFetchError(context);
    if (Error.captureStackTrace) {
      Error.captureStackTrace(error, $fetchRaw);
    }
    throw error;
  }
  const $fetchRaw = async function $fetchRaw2(_request, _options = {}) {
    const context = {
      request: _request,
      options: resolveFetchOptions(
        _request,
        _options,
        globalOptions.defaults,
        Headers
      ),
      response: void 0,
      error: void 0
    };
    if (context.options.method) {
      context.options.method = context.options.method.toUpperCase();
    }
    if (context.options.onRequest) {
      await callHooks(context, context.options.onRequest);
      if (!(context.options.headers instanceof Headers)) {
        context.options.headers = new Headers(
          context.options.headers || {}
          /* compat */
        );
      }
    }
    if (typeof context.request === "string") {
      if (context.options.baseURL) {
        context.request = withBase(context.request, context.options.baseURL);
      }
      if (context.options.query) {
        context.request = withQuery(context.request, context.options.query);
        delete context.options.query;
      }
      if ("query" in context.options) {
        delete context.options.query;
      }
      if ("params" in context.options) {
        delete context.options.params;
      }
    }
    if (context.options.body && isPayloadMethod(context.options.method)) {
      if (isJSONSerializable(context.options.body)) {
        const contentType = context.options.headers.get("content-type");
        if (typeof context.options.body !== "string") {
          context.options.body = contentType === "application/x-www-form-urlencoded" ? new URLSearchParams(
            context.options.body
          ).toString() : JSON.stringify(context.options.body);
        }
        if (!contentType) {
          context.options.headers.set("content-type", "application/json");
        }
        if (!context.options.headers.has("accept")) {
          context.options.headers.set("accept", "application/json");
        }
      } else if (
        // ReadableStream Body
        "pipeTo" in context.options.body && typeof context.options.body.pipeTo === "function" || // Node.js Stream Body
        typeof context.options.body.pipe === "function"
      ) {
        if (!("duplex" in context.options)) {
          context.options.duplex = "half";
        }
      }
    }
    let abortTimeout;
    if (!context.options.signal && context.options.timeout) {
      const controller = new AbortController();
      abortTimeout = setTimeout(() => {
        const error = new Error(
          "[TimeoutError]: The operation was aborted due to timeout"
        );
        error.name = "TimeoutError";
        error.code = 23;
        controller.abort(error);
      }, context.options.timeout);
      context.options.signal = controller.signal;
    }
    try {
      context.response = await fetch(
        context.request,
        context.options
      );
    } catch (error) {
      context.error = error;
      if (context.options.onRequestError) {
        await callHooks(
          context,
          context.options.onRequestError
        );
      }
      return await onError(context);
    } finally {
      if (abortTimeout) {
        clearTimeout(abortTimeout);
      }
    }
    const hasBody = (context.response.body || // https://github.com/unjs/ofetch/issues/324
    // https://github.com/unjs/ofetch/issues/294
    // https://github.com/JakeChampion/fetch/issues/1454
    context.response._bodyInit) && !nullBodyResponses.has(context.response.status) && context.options.method !== "HEAD";
    if (hasBody) {
      const responseType = (context.options.parseResponse ? "json" : context.options.responseType) || detectResponseType(context.response.headers.get("content-type") || "");
      switch (responseType) {
        case "json": {
          const data = await context.response.text();
          const parseFunction = context.options.parseResponse || destr;
          context.response._data = parseFunction(data);
          break;
        }
        case "stream": {
          context.response._data = context.response.body || context.response._bodyInit;
          break;
        }
        default: {
          context.response._data = await context.response[responseType]();
        }
      }
    }
    if (context.options.onResponse) {
      await callHooks(
        context,
        context.options.onResponse
      );
    }
    if (!context.options.ignoreResponseError && context.response.status >= 400 && context.response.status < 600) {
      if (context.options.onResponseError) {
        await callHooks(
          context,
          context.options.onResponseError
        );
      }
      return await onError(context);
    }
    return context.response;
  };
  const $fetch = async function $fetch2(request, options) {
    const r = await $fetchRaw(request, options);
    return r._data;
  };
  $fetch.raw = $fetchRaw;
  $fetch.native = (...args) => fetch(...args);
  $fetch.create = (defaultOptions = {}, customGlobalOptions = {}) => createFetch({
    ...globalOptions,
    ...customGlobalOptions,
    defaults: {
      ...globalOptions.defaults,
      ...customGlobalOptions.defaults,
      ...defaultOptions
    }
  });
  return $fetch;
}

function createNodeFetch() {
  const useKeepAlive = JSON.parse(process.env.FETCH_KEEP_ALIVE || "false");
  if (!useKeepAlive) {
    return l;
  }
  const agentOptions = { keepAlive: true };
  const httpAgent = new http.Agent(agentOptions);
  const httpsAgent = new https.Agent(agentOptions);
  const nodeFetchOptions = {
    agent(parsedURL) {
      return parsedURL.protocol === "http:" ? httpAgent : httpsAgent;
    }
  };
  return function nodeFetchWithKeepAlive(input, init) {
    return l(input, { ...nodeFetchOptions, ...init });
  };
}
const fetch = globalThis.fetch ? (...args) => globalThis.fetch(...args) : createNodeFetch();
const Headers$1 = globalThis.Headers || s;
const AbortController = globalThis.AbortController || i;
const ofetch = createFetch({ fetch, Headers: Headers$1, AbortController });

function wrapToPromise(value) {
  if (!value || typeof value.then !== "function") {
    return Promise.resolve(value);
  }
  return value;
}
function asyncCall(function_, ...arguments_) {
  try {
    return wrapToPromise(function_(...arguments_));
  } catch (error) {
    return Promise.reject(error);
  }
}
function isPrimitive(value) {
  const type = typeof value;
  return value === null || type !== "object" && type !== "function";
}
function isPureObject(value) {
  const proto = Object.getPrototypeOf(value);
  return !proto || proto.isPrototypeOf(Object);
}
function stringify(value) {
  if (isPrimitive(value)) {
    return String(value);
  }
  if (isPureObject(value) || Array.isArray(value)) {
    return JSON.stringify(value);
  }
  if (typeof value.toJSON === "function") {
    return stringify(value.toJSON());
  }
  throw new Error("[unstorage] Cannot stringify value!");
}
const BASE64_PREFIX = "base64:";
function serializeRaw(value) {
  if (typeof value === "string") {
    return value;
  }
  return BASE64_PREFIX + base64Encode(value);
}
function deserializeRaw(value) {
  if (typeof value !== "string") {
    return value;
  }
  if (!value.startsWith(BASE64_PREFIX)) {
    return value;
  }
  return base64Decode(value.slice(BASE64_PREFIX.length));
}
function base64Decode(input) {
  if (globalThis.Buffer) {
    return Buffer.from(input, "base64");
  }
  return Uint8Array.from(
    globalThis.atob(input),
    (c) => c.codePointAt(0)
  );
}
function base64Encode(input) {
  if (globalThis.Buffer) {
    return Buffer.from(input).toString("base64");
  }
  return globalThis.btoa(String.fromCodePoint(...input));
}

const storageKeyProperties = [
  "has",
  "hasItem",
  "get",
  "getItem",
  "getItemRaw",
  "set",
  "setItem",
  "setItemRaw",
  "del",
  "remove",
  "removeItem",
  "getMeta",
  "setMeta",
  "removeMeta",
  "getKeys",
  "clear",
  "mount",
  "unmount"
];
const nonItemKeyProperties = /* @__PURE__ */ new Set([
  "getKeys",
  "clear",
  "mount",
  "unmount"
]);
function prefixStorage(storage, base) {
  if (base?.includes("?")) {
    throw new Error(`[unstorage] Invalid base: ${JSON.stringify(base)}`);
  }
  base = normalizeBaseKey(base);
  if (!base) {
    return storage;
  }
  const itemKey = (key) => {
    if (!normalizeKey$1(key)) {
      throw new Error(`[unstorage] Invalid key: ${JSON.stringify(key)}`);
    }
    return base + key;
  };
  const nsStorage = { ...storage };
  for (const property of storageKeyProperties) {
    nsStorage[property] = nonItemKeyProperties.has(property) ? (key = "", ...args) => (
      // @ts-ignore
      storage[property](base + key, ...args)
    ) : async (key = "", ...args) => (
      // @ts-ignore
      storage[property](itemKey(key), ...args)
    );
  }
  nsStorage.getKeys = (key = "", ...arguments_) => storage.getKeys(base + key, ...arguments_).then((keys) => keys.map((key2) => key2.slice(base.length)));
  nsStorage.keys = nsStorage.getKeys;
  nsStorage.getItems = async (items, commonOptions) => {
    const prefixedItems = items.map(
      (item) => typeof item === "string" ? itemKey(item) : { ...item, key: itemKey(item.key) }
    );
    const results = await storage.getItems(prefixedItems, commonOptions);
    return results.map((entry) => ({
      key: entry.key.slice(base.length),
      value: entry.value
    }));
  };
  nsStorage.setItems = async (items, commonOptions) => {
    const prefixedItems = items.map((item) => ({
      key: itemKey(item.key),
      value: item.value,
      options: item.options
    }));
    return storage.setItems(prefixedItems, commonOptions);
  };
  return nsStorage;
}
function normalizeKey$1(key) {
  if (!key) {
    return "";
  }
  return key.split("?")[0]?.replace(/[/\\]/g, ":").replace(/:+/g, ":").replace(/^:|:$/g, "") || "";
}
function hasDotSegment(key) {
  return key.split(":").some((segment) => segment === "." || segment === "..");
}
function joinKeys(...keys) {
  return normalizeKey$1(keys.join(":"));
}
function normalizeBaseKey(base) {
  base = normalizeKey$1(base);
  return base ? base + ":" : "";
}
function filterKeyByDepth(key, depth) {
  if (depth === void 0) {
    return true;
  }
  let substrCount = 0;
  let index = key.indexOf(":");
  while (index > -1) {
    substrCount++;
    index = key.indexOf(":", index + 1);
  }
  return substrCount <= depth;
}
function filterKeyByBase(key, base) {
  if (base) {
    return key.startsWith(base) && key[key.length - 1] !== "$";
  }
  return key[key.length - 1] !== "$";
}

function defineDriver$1(factory) {
  return factory;
}

const DRIVER_NAME$1 = "memory";
const memory = defineDriver$1(() => {
  const data = /* @__PURE__ */ new Map();
  return {
    name: DRIVER_NAME$1,
    getInstance: () => data,
    hasItem(key) {
      return data.has(key);
    },
    getItem(key) {
      return data.get(key) ?? null;
    },
    getItemRaw(key) {
      return data.get(key) ?? null;
    },
    setItem(key, value) {
      data.set(key, value);
    },
    setItemRaw(key, value) {
      data.set(key, value);
    },
    removeItem(key) {
      data.delete(key);
    },
    getKeys() {
      return [...data.keys()];
    },
    clear() {
      data.clear();
    },
    dispose() {
      data.clear();
    }
  };
});

function createStorage(options = {}) {
  const context = {
    mounts: { "": options.driver || memory() },
    mountpoints: [""],
    watching: false,
    watchListeners: [],
    unwatch: {}
  };
  const normalizeItemKey = (key) => {
    const normalizedKey = normalizeKey$1(key);
    if (!normalizedKey || hasDotSegment(normalizedKey)) {
      throw new Error(`[unstorage] Invalid key: ${JSON.stringify(key)}`);
    }
    return normalizedKey;
  };
  const normalizeBase = (base) => {
    const normalizedBase = normalizeBaseKey(base);
    if (hasDotSegment(normalizedBase)) {
      throw new Error(`[unstorage] Invalid base: ${JSON.stringify(base)}`);
    }
    return normalizedBase;
  };
  const getMount = (key) => {
    for (const base of context.mountpoints) {
      if (key.startsWith(base)) {
        return {
          base,
          relativeKey: key.slice(base.length),
          driver: context.mounts[base]
        };
      }
    }
    return {
      base: "",
      relativeKey: key,
      driver: context.mounts[""]
    };
  };
  const getMounts = (base, includeParent) => {
    return context.mountpoints.filter(
      (mountpoint) => mountpoint.startsWith(base) || includeParent && base.startsWith(mountpoint)
    ).map((mountpoint) => ({
      relativeBase: base.length > mountpoint.length ? base.slice(mountpoint.length) : void 0,
      mountpoint,
      driver: context.mounts[mountpoint]
    }));
  };
  const onChange = (event, key) => {
    if (!context.watching) {
      return;
    }
    key = normalizeKey$1(key);
    for (const listener of context.watchListeners) {
      listener(event, key);
    }
  };
  const startWatch = async () => {
    if (context.watching) {
      return;
    }
    context.watching = true;
    for (const mountpoint in context.mounts) {
      context.unwatch[mountpoint] = await watch(
        context.mounts[mountpoint],
        onChange,
        mountpoint
      );
    }
  };
  const stopWatch = async () => {
    if (!context.watching) {
      return;
    }
    for (const mountpoint in context.unwatch) {
      await context.unwatch[mountpoint]();
    }
    context.unwatch = {};
    context.watching = false;
  };
  const runBatch = (items, commonOptions, cb) => {
    const batches = /* @__PURE__ */ new Map();
    const getBatch = (mount) => {
      let batch = batches.get(mount.base);
      if (!batch) {
        batch = {
          driver: mount.driver,
          base: mount.base,
          items: []
        };
        batches.set(mount.base, batch);
      }
      return batch;
    };
    for (const item of items) {
      const isStringItem = typeof item === "string";
      const key = normalizeItemKey(isStringItem ? item : item.key);
      const value = isStringItem ? void 0 : item.value;
      const options2 = isStringItem || !item.options ? commonOptions : { ...commonOptions, ...item.options };
      const mount = getMount(key);
      getBatch(mount).items.push({
        key,
        value,
        relativeKey: mount.relativeKey,
        options: options2
      });
    }
    return Promise.all([...batches.values()].map((batch) => cb(batch))).then(
      (r) => r.flat()
    );
  };
  const storage = {
    // Item
    async hasItem(key, opts = {}) {
      key = normalizeItemKey(key);
      const { relativeKey, driver } = getMount(key);
      return asyncCall(driver.hasItem, relativeKey, opts);
    },
    async getItem(key, opts = {}) {
      key = normalizeItemKey(key);
      const { relativeKey, driver } = getMount(key);
      return asyncCall(driver.getItem, relativeKey, opts).then(
        (value) => destr(value)
      );
    },
    async getItems(items, commonOptions = {}) {
      return runBatch(items, commonOptions, (batch) => {
        if (batch.driver.getItems) {
          return asyncCall(
            batch.driver.getItems,
            batch.items.map((item) => ({
              key: item.relativeKey,
              options: item.options
            })),
            commonOptions
          ).then(
            (r) => r.map((item) => ({
              key: joinKeys(batch.base, item.key),
              value: destr(item.value)
            }))
          );
        }
        return Promise.all(
          batch.items.map((item) => {
            return asyncCall(
              batch.driver.getItem,
              item.relativeKey,
              item.options
            ).then((value) => ({
              key: item.key,
              value: destr(value)
            }));
          })
        );
      });
    },
    async getItemRaw(key, opts = {}) {
      key = normalizeItemKey(key);
      const { relativeKey, driver } = getMount(key);
      if (driver.getItemRaw) {
        return asyncCall(driver.getItemRaw, relativeKey, opts);
      }
      return asyncCall(driver.getItem, relativeKey, opts).then(
        (value) => deserializeRaw(value)
      );
    },
    async setItem(key, value, opts = {}) {
      if (value === void 0) {
        return storage.removeItem(key);
      }
      key = normalizeItemKey(key);
      const { relativeKey, driver } = getMount(key);
      if (!driver.setItem) {
        return;
      }
      await asyncCall(driver.setItem, relativeKey, stringify(value), opts);
      if (!driver.watch) {
        onChange("update", key);
      }
    },
    async setItems(items, commonOptions) {
      await runBatch(items, commonOptions, async (batch) => {
        if (batch.driver.setItems) {
          return asyncCall(
            batch.driver.setItems,
            batch.items.map((item) => ({
              key: item.relativeKey,
              value: stringify(item.value),
              options: item.options
            })),
            commonOptions
          );
        }
        if (!batch.driver.setItem) {
          return;
        }
        await Promise.all(
          batch.items.map((item) => {
            return asyncCall(
              batch.driver.setItem,
              item.relativeKey,
              stringify(item.value),
              item.options
            );
          })
        );
      });
    },
    async setItemRaw(key, value, opts = {}) {
      if (value === void 0) {
        return storage.removeItem(key, opts);
      }
      key = normalizeItemKey(key);
      const { relativeKey, driver } = getMount(key);
      if (driver.setItemRaw) {
        await asyncCall(driver.setItemRaw, relativeKey, value, opts);
      } else if (driver.setItem) {
        await asyncCall(driver.setItem, relativeKey, serializeRaw(value), opts);
      } else {
        return;
      }
      if (!driver.watch) {
        onChange("update", key);
      }
    },
    async removeItem(key, opts = {}) {
      if (typeof opts === "boolean") {
        opts = { removeMeta: opts };
      }
      key = normalizeItemKey(key);
      const { relativeKey, driver } = getMount(key);
      if (!driver.removeItem) {
        return;
      }
      await asyncCall(driver.removeItem, relativeKey, opts);
      if (opts.removeMeta || opts.removeMata) {
        await asyncCall(driver.removeItem, relativeKey + "$", opts);
      }
      if (!driver.watch) {
        onChange("remove", key);
      }
    },
    // Meta
    async getMeta(key, opts = {}) {
      if (typeof opts === "boolean") {
        opts = { nativeOnly: opts };
      }
      key = normalizeItemKey(key);
      const { relativeKey, driver } = getMount(key);
      const meta = /* @__PURE__ */ Object.create(null);
      if (driver.getMeta) {
        Object.assign(meta, await asyncCall(driver.getMeta, relativeKey, opts));
      }
      if (!opts.nativeOnly) {
        const value = await asyncCall(
          driver.getItem,
          relativeKey + "$",
          opts
        ).then((value_) => destr(value_));
        if (value && typeof value === "object") {
          if (typeof value.atime === "string") {
            value.atime = new Date(value.atime);
          }
          if (typeof value.mtime === "string") {
            value.mtime = new Date(value.mtime);
          }
          Object.assign(meta, value);
        }
      }
      return meta;
    },
    async setMeta(key, value, opts = {}) {
      return this.setItem(normalizeItemKey(key) + "$", value, opts);
    },
    async removeMeta(key, opts = {}) {
      return this.removeItem(normalizeItemKey(key) + "$", opts);
    },
    // Keys
    async getKeys(base, opts = {}) {
      base = normalizeBase(base);
      const mounts = getMounts(base, true);
      let maskedMounts = [];
      const allKeys = [];
      let allMountsSupportMaxDepth = true;
      for (const mount of mounts) {
        if (!mount.driver.flags?.maxDepth) {
          allMountsSupportMaxDepth = false;
        }
        const rawKeys = await asyncCall(
          mount.driver.getKeys,
          mount.relativeBase,
          opts
        );
        for (const key of rawKeys) {
          const fullKey = mount.mountpoint + normalizeKey$1(key);
          if (!maskedMounts.some((p) => fullKey.startsWith(p))) {
            allKeys.push(fullKey);
          }
        }
        maskedMounts = [
          mount.mountpoint,
          ...maskedMounts.filter((p) => !p.startsWith(mount.mountpoint))
        ];
      }
      const shouldFilterByDepth = opts.maxDepth !== void 0 && !allMountsSupportMaxDepth;
      return allKeys.filter(
        (key) => (!shouldFilterByDepth || filterKeyByDepth(key, opts.maxDepth)) && filterKeyByBase(key, base)
      );
    },
    // Utils
    async clear(base, opts = {}) {
      base = normalizeBase(base);
      await Promise.all(
        getMounts(base, false).map(async (m) => {
          if (m.driver.clear) {
            return asyncCall(m.driver.clear, m.relativeBase, opts);
          }
          if (m.driver.removeItem) {
            const keys = await m.driver.getKeys(m.relativeBase || "", opts);
            return Promise.all(
              keys.map((key) => m.driver.removeItem(key, opts))
            );
          }
        })
      );
    },
    async dispose() {
      await Promise.all(
        Object.values(context.mounts).map((driver) => dispose(driver))
      );
    },
    async watch(callback) {
      await startWatch();
      context.watchListeners.push(callback);
      return async () => {
        context.watchListeners = context.watchListeners.filter(
          (listener) => listener !== callback
        );
        if (context.watchListeners.length === 0) {
          await stopWatch();
        }
      };
    },
    async unwatch() {
      context.watchListeners = [];
      await stopWatch();
    },
    // Mount
    mount(base, driver) {
      base = normalizeBase(base);
      if (base && context.mounts[base]) {
        throw new Error(`already mounted at ${base}`);
      }
      if (base) {
        context.mountpoints.push(base);
        context.mountpoints.sort((a, b) => b.length - a.length);
      }
      context.mounts[base] = driver;
      if (context.watching) {
        Promise.resolve(watch(driver, onChange, base)).then((unwatcher) => {
          context.unwatch[base] = unwatcher;
        }).catch(console.error);
      }
      return storage;
    },
    async unmount(base, _dispose = true) {
      base = normalizeBaseKey(base);
      if (!base || !context.mounts[base]) {
        return;
      }
      if (context.watching && base in context.unwatch) {
        context.unwatch[base]?.();
        delete context.unwatch[base];
      }
      if (_dispose) {
        await dispose(context.mounts[base]);
      }
      context.mountpoints = context.mountpoints.filter((key) => key !== base);
      delete context.mounts[base];
    },
    getMount(key = "") {
      key = normalizeKey$1(key) + ":";
      const m = getMount(key);
      return {
        driver: m.driver,
        base: m.base
      };
    },
    getMounts(base = "", opts = {}) {
      base = normalizeKey$1(base);
      const mounts = getMounts(base, opts.parents);
      return mounts.map((m) => ({
        driver: m.driver,
        base: m.mountpoint
      }));
    },
    // Aliases
    keys: (base, opts = {}) => storage.getKeys(base, opts),
    get: (key, opts = {}) => storage.getItem(key, opts),
    set: (key, value, opts = {}) => storage.setItem(key, value, opts),
    has: (key, opts = {}) => storage.hasItem(key, opts),
    del: (key, opts = {}) => storage.removeItem(key, opts),
    remove: (key, opts = {}) => storage.removeItem(key, opts)
  };
  return storage;
}
function watch(driver, onChange, base) {
  return driver.watch ? driver.watch((event, key) => onChange(event, base + key)) : () => {
  };
}
async function dispose(driver) {
  if (typeof driver.dispose === "function") {
    await asyncCall(driver.dispose);
  }
}

const _assets = {

};

const normalizeKey = function normalizeKey(key) {
  if (!key) {
    return "";
  }
  return key.split("?")[0]?.replace(/[/\\]/g, ":").replace(/:+/g, ":").replace(/^:|:$/g, "") || "";
};

const assets = {
  getKeys() {
    return Promise.resolve(Object.keys(_assets))
  },
  hasItem (id) {
    id = normalizeKey(id);
    return Promise.resolve(id in _assets)
  },
  getItem (id) {
    id = normalizeKey(id);
    return Promise.resolve(_assets[id] ? _assets[id].import() : null)
  },
  getMeta (id) {
    id = normalizeKey(id);
    return Promise.resolve(_assets[id] ? _assets[id].meta : {})
  }
};

function defineDriver(factory) {
  return factory;
}
function createError(driver, message, opts) {
  const err = new Error(`[unstorage] [${driver}] ${message}`, opts);
  if (Error.captureStackTrace) {
    Error.captureStackTrace(err, createError);
  }
  return err;
}
function createRequiredError(driver, name) {
  if (Array.isArray(name)) {
    return createError(
      driver,
      `Missing some of the required options ${name.map((n) => "`" + n + "`").join(", ")}`
    );
  }
  return createError(driver, `Missing required option \`${name}\`.`);
}

function ignoreNotfound(err) {
  return err.code === "ENOENT" || err.code === "EISDIR" ? null : err;
}
function ignoreExists(err) {
  return err.code === "EEXIST" ? null : err;
}
async function writeFile(path, data, encoding) {
  await ensuredir(dirname(path));
  return promises.writeFile(path, data, encoding);
}
function readFile$1(path, encoding) {
  return promises.readFile(path, encoding ?? null).catch(ignoreNotfound);
}
function unlink(path) {
  return promises.unlink(path).catch(ignoreNotfound);
}
function readdir(dir) {
  return promises.readdir(dir, { withFileTypes: true }).catch(ignoreNotfound).then((r) => r || []);
}
async function ensuredir(dir) {
  if (existsSync(dir)) {
    return;
  }
  await ensuredir(dirname(dir)).catch(ignoreExists);
  await promises.mkdir(dir).catch(ignoreExists);
}
async function readdirRecursive(dir, ignore, maxDepth) {
  if (ignore && ignore(dir)) {
    return [];
  }
  const entries = await readdir(dir);
  const files = [];
  await Promise.all(
    entries.map(async (entry) => {
      const entryPath = resolve(dir, entry.name);
      if (entry.isDirectory()) {
        if (maxDepth === void 0 || maxDepth > 0) {
          const dirFiles = await readdirRecursive(
            entryPath,
            ignore,
            maxDepth === void 0 ? void 0 : maxDepth - 1
          );
          files.push(...dirFiles.map((f) => entry.name + "/" + f));
        }
      } else {
        if (!(ignore && ignore(entry.name))) {
          files.push(entry.name);
        }
      }
    })
  );
  return files;
}
async function rmRecursive(dir) {
  const entries = await readdir(dir);
  await Promise.all(
    entries.map((entry) => {
      const entryPath = resolve(dir, entry.name);
      if (entry.isDirectory()) {
        return rmRecursive(entryPath).then(() => promises.rmdir(entryPath));
      } else {
        return promises.unlink(entryPath);
      }
    })
  );
}

const PATH_TRAVERSE_RE = /\.\.:|\.\.$/;
const DRIVER_NAME = "fs-lite";
const unstorage_47drivers_47fs_45lite = defineDriver((opts = {}) => {
  if (!opts.base) {
    throw createRequiredError(DRIVER_NAME, "base");
  }
  opts.base = resolve(opts.base);
  const r = (key) => {
    if (PATH_TRAVERSE_RE.test(key)) {
      throw createError(
        DRIVER_NAME,
        `Invalid key: ${JSON.stringify(key)}. It should not contain .. segments`
      );
    }
    const resolved = join(opts.base, key.replace(/:/g, "/"));
    return resolved;
  };
  return {
    name: DRIVER_NAME,
    options: opts,
    flags: {
      maxDepth: true
    },
    hasItem(key) {
      return existsSync(r(key));
    },
    getItem(key) {
      return readFile$1(r(key), "utf8");
    },
    getItemRaw(key) {
      return readFile$1(r(key));
    },
    async getMeta(key) {
      const { atime, mtime, size, birthtime, ctime } = await promises.stat(r(key)).catch(() => ({}));
      return { atime, mtime, size, birthtime, ctime };
    },
    setItem(key, value) {
      if (opts.readOnly) {
        return;
      }
      return writeFile(r(key), value, "utf8");
    },
    setItemRaw(key, value) {
      if (opts.readOnly) {
        return;
      }
      return writeFile(r(key), value);
    },
    removeItem(key) {
      if (opts.readOnly) {
        return;
      }
      return unlink(r(key));
    },
    getKeys(_base, topts) {
      return readdirRecursive(r("."), opts.ignore, topts?.maxDepth);
    },
    async clear() {
      if (opts.readOnly || opts.noClear) {
        return;
      }
      await rmRecursive(r("."));
    }
  };
});

const storage = createStorage({});

storage.mount('/assets', assets);

storage.mount('data', unstorage_47drivers_47fs_45lite({"driver":"fsLite","base":"./.data/kv"}));

function useStorage(base = "") {
  return base ? prefixStorage(storage, base) : storage;
}

const fastHash = /*@__PURE__*/ (() => globalThis.process?.getBuiltinModule?.("crypto")?.hash)();
const algorithm = "sha256";
const encoding = "base64url";
function digest(data) {
	if (fastHash) return fastHash(algorithm, data, encoding);
	const h = createHash(algorithm).update(data);
	return globalThis.process?.versions?.webcontainer ? h.digest().toString(encoding) : h.digest(encoding);
}

const Hasher = /* @__PURE__ */ (() => {
  class Hasher2 {
    buff = "";
    #context = /* @__PURE__ */ new Map();
    write(str) {
      this.buff += str;
    }
    dispatch(value) {
      const type = value === null ? "null" : typeof value;
      return this[type](value);
    }
    object(object) {
      if (object && typeof object.toJSON === "function") {
        return this.object(object.toJSON());
      }
      const objString = Object.prototype.toString.call(object);
      let objType = "";
      const objectLength = objString.length;
      objType = objectLength < 10 ? "unknown:[" + objString + "]" : objString.slice(8, objectLength - 1);
      objType = objType.toLowerCase();
      let objectNumber = null;
      if ((objectNumber = this.#context.get(object)) === void 0) {
        this.#context.set(object, this.#context.size);
      } else {
        return this.dispatch("[CIRCULAR:" + objectNumber + "]");
      }
      if (typeof Buffer !== "undefined" && Buffer.isBuffer && Buffer.isBuffer(object)) {
        this.write("buffer:");
        return this.write(object.toString("utf8"));
      }
      if (objType !== "object" && objType !== "function" && objType !== "asyncfunction") {
        if (this[objType]) {
          this[objType](object);
        } else {
          this.unknown(object, objType);
        }
      } else {
        const keys = Object.keys(object).sort();
        const extraKeys = [];
        this.write("object:" + (keys.length + extraKeys.length) + ":");
        const dispatchForKey = (key) => {
          this.dispatch(key);
          this.write(":");
          this.dispatch(object[key]);
          this.write(",");
        };
        for (const key of keys) {
          dispatchForKey(key);
        }
        for (const key of extraKeys) {
          dispatchForKey(key);
        }
      }
    }
    array(arr, unordered) {
      unordered = unordered === void 0 ? false : unordered;
      this.write("array:" + arr.length + ":");
      if (!unordered || arr.length <= 1) {
        for (const entry of arr) {
          this.dispatch(entry);
        }
        return;
      }
      const contextAdditions = /* @__PURE__ */ new Map();
      const entries = arr.map((entry) => {
        const hasher = new Hasher2();
        hasher.dispatch(entry);
        for (const [key, value] of hasher.#context) {
          contextAdditions.set(key, value);
        }
        return hasher.toString();
      });
      this.#context = contextAdditions;
      entries.sort();
      return this.array(entries, false);
    }
    date(date) {
      return this.write("date:" + date.toJSON());
    }
    symbol(sym) {
      return this.write("symbol:" + sym.toString());
    }
    unknown(value, type) {
      this.write(type);
      if (!value) {
        return;
      }
      this.write(":");
      if (value && typeof value.entries === "function") {
        return this.array(
          [...value.entries()],
          true
          /* ordered */
        );
      }
    }
    error(err) {
      return this.write("error:" + err.toString());
    }
    boolean(bool) {
      return this.write("bool:" + bool);
    }
    string(string) {
      this.write("string:" + string.length + ":");
      this.write(string);
    }
    function(fn) {
      this.write("fn:");
      if (isNativeFunction(fn)) {
        this.dispatch("[native]");
      } else {
        this.dispatch(fn.toString());
      }
    }
    number(number) {
      return this.write("number:" + number);
    }
    null() {
      return this.write("Null");
    }
    undefined() {
      return this.write("Undefined");
    }
    regexp(regex) {
      return this.write("regex:" + regex.toString());
    }
    arraybuffer(arr) {
      this.write("arraybuffer:");
      return this.dispatch(new Uint8Array(arr));
    }
    url(url) {
      return this.write("url:" + url.toString());
    }
    map(map) {
      this.write("map:");
      const arr = [...map];
      return this.array(arr, false);
    }
    set(set) {
      this.write("set:");
      const arr = [...set];
      return this.array(arr, false);
    }
    bigint(number) {
      return this.write("bigint:" + number.toString());
    }
  }
  for (const type of [
    "uint8array",
    "uint8clampedarray",
    "unt8array",
    "uint16array",
    "unt16array",
    "uint32array",
    "unt32array",
    "float32array",
    "float64array"
  ]) {
    Hasher2.prototype[type] = function(arr) {
      this.write(type + ":");
      return this.array([...arr], false);
    };
  }
  function isNativeFunction(f) {
    if (typeof f !== "function") {
      return false;
    }
    return Function.prototype.toString.call(f).slice(
      -15
      /* "[native code] }".length */
    ) === "[native code] }";
  }
  return Hasher2;
})();
function serialize(object) {
  const hasher = new Hasher();
  hasher.dispatch(object);
  return hasher.buff;
}
function hash(value) {
  return digest(typeof value === "string" ? value : serialize(value)).replace(/[-_]/g, "").slice(0, 10);
}

function defaultCacheOptions() {
  return {
    name: "_",
    base: "/cache",
    swr: true,
    maxAge: 1
  };
}
function defineCachedFunction(fn, opts = {}) {
  opts = { ...defaultCacheOptions(), ...opts };
  const pending = {};
  const group = opts.group || "nitro/functions";
  const name = opts.name || fn.name || "_";
  const integrity = opts.integrity || hash([fn, opts]);
  const validate = opts.validate || ((entry) => entry.value !== void 0);
  async function get(key, resolver, shouldInvalidateCache, event) {
    const cacheKey = [opts.base, group, name, key + ".json"].filter(Boolean).join(":").replace(/:\/$/, ":index");
    let entry = await useStorage().getItem(cacheKey).catch((error) => {
      console.error(`[cache] Cache read error.`, error);
      useNitroApp().captureError(error, { event, tags: ["cache"] });
    }) || {};
    if (typeof entry !== "object") {
      entry = {};
      const error = new Error("Malformed data read from cache.");
      console.error("[cache]", error);
      useNitroApp().captureError(error, { event, tags: ["cache"] });
    }
    const ttl = (opts.maxAge ?? 0) * 1e3;
    if (ttl) {
      entry.expires = Date.now() + ttl;
    }
    const expired = shouldInvalidateCache || entry.integrity !== integrity || ttl && Date.now() - (entry.mtime || 0) > ttl || validate(entry) === false;
    const _resolve = async () => {
      const isPending = pending[key];
      if (!isPending) {
        if (entry.value !== void 0 && (opts.staleMaxAge || 0) >= 0 && opts.swr === false) {
          entry.value = void 0;
          entry.integrity = void 0;
          entry.mtime = void 0;
          entry.expires = void 0;
        }
        pending[key] = Promise.resolve(resolver());
      }
      try {
        entry.value = await pending[key];
      } catch (error) {
        if (!isPending) {
          delete pending[key];
        }
        throw error;
      }
      if (!isPending) {
        entry.mtime = Date.now();
        entry.integrity = integrity;
        delete pending[key];
        if (validate(entry) !== false) {
          let setOpts;
          if (opts.maxAge && !opts.swr) {
            setOpts = { ttl: opts.maxAge };
          }
          const promise = useStorage().setItem(cacheKey, entry, setOpts).catch((error) => {
            console.error(`[cache] Cache write error.`, error);
            useNitroApp().captureError(error, { event, tags: ["cache"] });
          });
          if (event?.waitUntil) {
            event.waitUntil(promise);
          }
        } else if (opts._removeStaleOnInvalid?.(entry)) {
          const promise = useStorage().removeItem(cacheKey).catch((error) => {
            console.error(`[cache] Cache remove error.`, error);
            useNitroApp().captureError(error, { event, tags: ["cache"] });
          });
          if (event?.waitUntil) {
            event.waitUntil(promise);
          }
        }
      }
    };
    const _resolvePromise = expired ? _resolve() : Promise.resolve();
    if (entry.value === void 0) {
      await _resolvePromise;
    } else if (expired && event && event.waitUntil) {
      event.waitUntil(_resolvePromise);
    }
    if (opts.swr && validate(entry) !== false) {
      _resolvePromise.catch((error) => {
        console.error(`[cache] SWR handler error.`, error);
        useNitroApp().captureError(error, { event, tags: ["cache"] });
      });
      return entry;
    }
    return _resolvePromise.then(() => entry);
  }
  return async (...args) => {
    const shouldBypassCache = await opts.shouldBypassCache?.(...args);
    if (shouldBypassCache) {
      return fn(...args);
    }
    const key = await (opts.getKey || getKey)(...args);
    const shouldInvalidateCache = await opts.shouldInvalidateCache?.(...args);
    const entry = await get(
      key,
      () => fn(...args),
      shouldInvalidateCache,
      args[0] && isEvent(args[0]) ? args[0] : void 0
    );
    let value = entry.value;
    if (opts.transform) {
      value = await opts.transform(entry, ...args) || value;
    }
    return value;
  };
}
function cachedFunction(fn, opts = {}) {
  return defineCachedFunction(fn, opts);
}
function getKey(...args) {
  return args.length > 0 ? hash(args) : "";
}
function escapeKey(key) {
  return String(key).replace(/\W/g, "");
}
function defineCachedEventHandler(handler, opts = defaultCacheOptions()) {
  const variableHeaderNames = (opts.varies || []).filter(Boolean).map((h) => h.toLowerCase()).sort();
  const _opts = {
    ...opts,
    getKey: async (event) => {
      const _methodSuffix = event.method === "HEAD" ? ":HEAD" : "";
      const customKey = await opts.getKey?.(event);
      if (customKey) {
        return escapeKey(customKey) + _methodSuffix;
      }
      const _path = event.node.req.originalUrl || event.node.req.url || event.path;
      let _pathname;
      try {
        _pathname = escapeKey(decodeURI(parseURL(_path).pathname)).slice(0, 16) || "index";
      } catch {
        _pathname = "-";
      }
      const _hashedPath = `${_pathname}.${hash(_path)}`;
      const _headers = variableHeaderNames.map((header) => [header, event.node.req.headers[header]]).map(([name, value]) => `${escapeKey(name)}.${hash(value)}`);
      return [_hashedPath, ..._headers].join(":") + _methodSuffix;
    },
    validate: (entry) => {
      if (!entry.value) {
        return false;
      }
      if (entry.value.code >= 400) {
        return false;
      }
      if (entry.value.body === void 0) {
        return false;
      }
      if (entry.value.headers.etag === "undefined" || entry.value.headers["last-modified"] === "undefined") {
        return false;
      }
      if (!isCacheableResponse(entry.value.headers, variableHeaderNames)) {
        return false;
      }
      return true;
    },
    _removeStaleOnInvalid: (entry) => !!entry.value && !isCacheableResponse(entry.value.headers, variableHeaderNames),
    group: opts.group || "nitro/handlers",
    integrity: opts.integrity || hash([handler, opts])
  };
  const _resolveResponse = async (incomingEvent) => {
    const variableHeaders = {};
    for (const header of variableHeaderNames) {
      const value = incomingEvent.node.req.headers[header];
      if (value !== void 0) {
        variableHeaders[header] = value;
      }
    }
    const reqProxy = cloneWithProxy(incomingEvent.node.req, {
      headers: variableHeaders
    });
    const resHeaders = {};
    let _resSendBody;
    const resProxy = cloneWithProxy(incomingEvent.node.res, {
      statusCode: 200,
      writableEnded: false,
      writableFinished: false,
      headersSent: false,
      closed: false,
      getHeader(name) {
        return resHeaders[name];
      },
      setHeader(name, value) {
        resHeaders[name] = value;
        return this;
      },
      getHeaderNames() {
        return Object.keys(resHeaders);
      },
      hasHeader(name) {
        return name in resHeaders;
      },
      removeHeader(name) {
        delete resHeaders[name];
      },
      appendHeader(name, value) {
        const values = [resHeaders[name], value].flat().filter((v) => v !== void 0).map(String);
        resHeaders[name] = values.length === 1 ? values[0] : values;
        return this;
      },
      getHeaders() {
        return resHeaders;
      },
      end(chunk, arg2, arg3) {
        if (typeof chunk === "string") {
          _resSendBody = chunk;
        }
        if (typeof arg2 === "function") {
          arg2();
        }
        if (typeof arg3 === "function") {
          arg3();
        }
        return this;
      },
      write(chunk, arg2, arg3) {
        if (typeof chunk === "string") {
          _resSendBody = chunk;
        }
        if (typeof arg2 === "function") {
          arg2(void 0);
        }
        if (typeof arg3 === "function") {
          arg3();
        }
        return true;
      },
      writeHead(statusCode, headers2) {
        this.statusCode = statusCode;
        if (headers2) {
          if (Array.isArray(headers2) || typeof headers2 === "string") {
            throw new TypeError("Raw headers  is not supported.");
          }
          for (const header in headers2) {
            const value = headers2[header];
            if (value !== void 0) {
              this.setHeader(header, value);
            }
          }
        }
        return this;
      }
    });
    const event = createEvent(reqProxy, resProxy);
    event._path = incomingEvent._path;
    event.fetch = (url, fetchOptions) => fetchWithEvent(event, url, fetchOptions, {
      fetch: useNitroApp().localFetch
    });
    event.$fetch = (url, fetchOptions) => fetchWithEvent(event, url, fetchOptions, {
      fetch: globalThis.$fetch
    });
    event.waitUntil = incomingEvent.waitUntil;
    event.context = incomingEvent.context;
    event.context.cache = {
      options: _opts
    };
    const body = await handler(event) || _resSendBody;
    const headers = event.node.res.getHeaders();
    headers.etag = String(headers.Etag || headers.etag || `W/"${hash(body)}"`);
    headers["last-modified"] = String(
      headers["Last-Modified"] || headers["last-modified"] || (/* @__PURE__ */ new Date()).toUTCString()
    );
    const cacheControl = [];
    if (!isCacheableResponse(headers, variableHeaderNames)) ; else if (opts.swr) {
      if (opts.maxAge) {
        cacheControl.push(`s-maxage=${opts.maxAge}`);
      }
      if (opts.staleMaxAge) {
        cacheControl.push(`stale-while-revalidate=${opts.staleMaxAge}`);
      } else {
        cacheControl.push("stale-while-revalidate");
      }
    } else if (opts.maxAge) {
      cacheControl.push(`max-age=${opts.maxAge}`);
    }
    if (cacheControl.length > 0) {
      headers["cache-control"] = cacheControl.join(", ");
    }
    const cacheEntry = {
      code: event.node.res.statusCode,
      headers,
      body
    };
    responseOrigins.set(cacheEntry, incomingEvent);
    return cacheEntry;
  };
  const _cachedHandler = cachedFunction(
    // Anonymous wrapper keeps the default cache name (`fn.name` fallback) unchanged
    (event) => _resolveResponse(event),
    _opts
  );
  return defineEventHandler(async (event) => {
    if (event.method !== "GET" && event.method !== "HEAD" || event.node.req.headers.range !== void 0) {
      return handler(event);
    }
    if (opts.headersOnly) {
      if (handleCacheHeaders(event, { maxAge: opts.maxAge })) {
        return;
      }
      return handler(event);
    }
    let response = await _cachedHandler(
      event
    );
    let isCacheable = isCacheableResponse(
      response.headers,
      variableHeaderNames
    );
    if (!isCacheable && responseOrigins.get(response) !== event) {
      response = await _resolveResponse(event);
      isCacheable = isCacheableResponse(response.headers, variableHeaderNames);
    }
    if (event.node.res.headersSent || event.node.res.writableEnded) {
      return response.body;
    }
    const isOrigin = responseOrigins.get(response) === event;
    if (isCacheable && handleCacheHeaders(event, {
      modifiedTime: new Date(response.headers["last-modified"]),
      etag: response.headers.etag,
      maxAge: opts.maxAge
    })) {
      return;
    }
    event.node.res.statusCode = response.code;
    for (const name in response.headers) {
      const value = response.headers[name];
      if (name.toLowerCase() === "set-cookie") {
        if (isOrigin && value !== void 0) {
          event.node.res.appendHeader(
            name,
            splitCookiesString(value)
          );
        }
      } else {
        if (value !== void 0) {
          event.node.res.setHeader(name, value);
        }
      }
    }
    return response.body;
  });
}
const responseOrigins = /* @__PURE__ */ new WeakMap();
function getHeaderValue(headers, name) {
  const values = [];
  for (const key in headers) {
    if (key.toLowerCase() === name) {
      const value = headers[key];
      if (value !== void 0) {
        values.push(Array.isArray(value) ? value.join(", ") : String(value));
      }
    }
  }
  return values.length > 0 ? values.join(", ") : void 0;
}
const VARY_IGNORED_HEADERS = /* @__PURE__ */ new Set(["accept-encoding"]);
function isCacheableResponse(headers, variableHeaderNames) {
  if (getHeaderValue(headers, "set-cookie") !== void 0) {
    return false;
  }
  const cacheControl = getHeaderValue(headers, "cache-control");
  if (cacheControl && /(?:^|[\s,])(?:private|no-store|no-cache)(?:$|[\s,=])/i.test(cacheControl)) {
    return false;
  }
  const vary = getHeaderValue(headers, "vary");
  if (vary) {
    for (const _name of vary.split(",")) {
      const name = _name.trim().toLowerCase();
      if (!name || VARY_IGNORED_HEADERS.has(name)) {
        continue;
      }
      if (name === "*" || !variableHeaderNames.includes(name)) {
        return false;
      }
    }
  }
  return true;
}
function cloneWithProxy(obj, overrides) {
  return new Proxy(obj, {
    get(target, property, receiver) {
      if (property in overrides) {
        return overrides[property];
      }
      return Reflect.get(target, property, receiver);
    },
    set(target, property, value, receiver) {
      if (property in overrides) {
        overrides[property] = value;
        return true;
      }
      return Reflect.set(target, property, value, receiver);
    }
  });
}
const cachedEventHandler = defineCachedEventHandler;

function klona(x) {
	if (typeof x !== 'object') return x;

	var k, tmp, str=Object.prototype.toString.call(x);

	if (str === '[object Object]') {
		if (x.constructor !== Object && typeof x.constructor === 'function') {
			tmp = new x.constructor();
			for (k in x) {
				if (x.hasOwnProperty(k) && tmp[k] !== x[k]) {
					tmp[k] = klona(x[k]);
				}
			}
		} else {
			tmp = {}; // null
			for (k in x) {
				if (k === '__proto__') {
					Object.defineProperty(tmp, k, {
						value: klona(x[k]),
						configurable: true,
						enumerable: true,
						writable: true,
					});
				} else {
					tmp[k] = klona(x[k]);
				}
			}
		}
		return tmp;
	}

	if (str === '[object Array]') {
		k = x.length;
		for (tmp=Array(k); k--;) {
			tmp[k] = klona(x[k]);
		}
		return tmp;
	}

	if (str === '[object Set]') {
		tmp = new Set;
		x.forEach(function (val) {
			tmp.add(klona(val));
		});
		return tmp;
	}

	if (str === '[object Map]') {
		tmp = new Map;
		x.forEach(function (val, key) {
			tmp.set(klona(key), klona(val));
		});
		return tmp;
	}

	if (str === '[object Date]') {
		return new Date(+x);
	}

	if (str === '[object RegExp]') {
		tmp = new RegExp(x.source, x.flags);
		tmp.lastIndex = x.lastIndex;
		return tmp;
	}

	if (str === '[object DataView]') {
		return new x.constructor( klona(x.buffer) );
	}

	if (str === '[object ArrayBuffer]') {
		return x.slice(0);
	}

	// ArrayBuffer.isView(x)
	// ~> `new` bcuz `Buffer.slice` => ref
	if (str.slice(-6) === 'Array]') {
		return new x.constructor(x);
	}

	return x;
}

const inlineAppConfig = {};



const appConfig = defuFn(inlineAppConfig);

const NUMBER_CHAR_RE = /\d/;
const STR_SPLITTERS = ["-", "_", "/", "."];
function isUppercase(char = "") {
  if (NUMBER_CHAR_RE.test(char)) {
    return void 0;
  }
  return char !== char.toLowerCase();
}
function splitByCase(str, separators) {
  const splitters = STR_SPLITTERS;
  const parts = [];
  if (!str || typeof str !== "string") {
    return parts;
  }
  let buff = "";
  let previousUpper;
  let previousSplitter;
  for (const char of str) {
    const isSplitter = splitters.includes(char);
    if (isSplitter === true) {
      parts.push(buff);
      buff = "";
      previousUpper = void 0;
      continue;
    }
    const isUpper = isUppercase(char);
    if (previousSplitter === false) {
      if (previousUpper === false && isUpper === true) {
        parts.push(buff);
        buff = char;
        previousUpper = isUpper;
        continue;
      }
      if (previousUpper === true && isUpper === false && buff.length > 1) {
        const lastChar = buff.at(-1);
        parts.push(buff.slice(0, Math.max(0, buff.length - 1)));
        buff = lastChar + char;
        previousUpper = isUpper;
        continue;
      }
    }
    buff += char;
    previousUpper = isUpper;
    previousSplitter = isSplitter;
  }
  parts.push(buff);
  return parts;
}
function kebabCase(str, joiner) {
  return str ? (Array.isArray(str) ? str : splitByCase(str)).map((p) => p.toLowerCase()).join(joiner) : "";
}
function snakeCase(str) {
  return kebabCase(str || "", "_");
}

function getEnv(key, opts) {
  const envKey = snakeCase(key).toUpperCase();
  return destr(
    process.env[opts.prefix + envKey] ?? process.env[opts.altPrefix + envKey]
  );
}
function _isObject(input) {
  return typeof input === "object" && !Array.isArray(input);
}
function applyEnv(obj, opts, parentKey = "") {
  for (const key in obj) {
    const subKey = parentKey ? `${parentKey}_${key}` : key;
    const envValue = getEnv(subKey, opts);
    if (_isObject(obj[key])) {
      if (_isObject(envValue)) {
        obj[key] = { ...obj[key], ...envValue };
        applyEnv(obj[key], opts, subKey);
      } else if (envValue === void 0) {
        applyEnv(obj[key], opts, subKey);
      } else {
        obj[key] = envValue ?? obj[key];
      }
    } else {
      obj[key] = envValue ?? obj[key];
    }
    if (opts.envExpansion && typeof obj[key] === "string") {
      obj[key] = _expandFromEnv(obj[key]);
    }
  }
  return obj;
}
const envExpandRx = /\{\{([^{}]*)\}\}/g;
function _expandFromEnv(value) {
  return value.replace(envExpandRx, (match, key) => {
    return process.env[key] || match;
  });
}

const _inlineRuntimeConfig = {
  "app": {
    "baseURL": "/"
  },
  "nitro": {
    "routeRules": {}
  }
};
const envOptions = {
  prefix: "NITRO_",
  altPrefix: _inlineRuntimeConfig.nitro.envPrefix ?? process.env.NITRO_ENV_PREFIX ?? "_",
  envExpansion: _inlineRuntimeConfig.nitro.envExpansion ?? process.env.NITRO_ENV_EXPANSION ?? false
};
const _sharedRuntimeConfig = _deepFreeze(
  applyEnv(klona(_inlineRuntimeConfig), envOptions)
);
function useRuntimeConfig(event) {
  {
    return _sharedRuntimeConfig;
  }
}
_deepFreeze(klona(appConfig));
function _deepFreeze(object) {
  const propNames = Object.getOwnPropertyNames(object);
  for (const name of propNames) {
    const value = object[name];
    if (value && typeof value === "object") {
      _deepFreeze(value);
    }
  }
  return Object.freeze(object);
}
new Proxy(/* @__PURE__ */ Object.create(null), {
  get: (_, prop) => {
    console.warn(
      "Please use `useRuntimeConfig()` instead of accessing config directly."
    );
    const runtimeConfig = useRuntimeConfig();
    if (prop in runtimeConfig) {
      return runtimeConfig[prop];
    }
    return void 0;
  }
});

function createContext(opts = {}) {
  let currentInstance;
  let isSingleton = false;
  const checkConflict = (instance) => {
    if (currentInstance && currentInstance !== instance) {
      throw new Error("Context conflict");
    }
  };
  let als;
  if (opts.asyncContext) {
    const _AsyncLocalStorage = opts.AsyncLocalStorage || globalThis.AsyncLocalStorage;
    if (_AsyncLocalStorage) {
      als = new _AsyncLocalStorage();
    } else {
      console.warn("[unctx] `AsyncLocalStorage` is not provided.");
    }
  }
  const _getCurrentInstance = () => {
    if (als) {
      const instance = als.getStore();
      if (instance !== void 0) {
        return instance;
      }
    }
    return currentInstance;
  };
  return {
    use: () => {
      const _instance = _getCurrentInstance();
      if (_instance === void 0) {
        throw new Error("Context is not available");
      }
      return _instance;
    },
    tryUse: () => {
      return _getCurrentInstance();
    },
    set: (instance, replace) => {
      if (!replace) {
        checkConflict(instance);
      }
      currentInstance = instance;
      isSingleton = true;
    },
    unset: () => {
      currentInstance = void 0;
      isSingleton = false;
    },
    call: (instance, callback) => {
      checkConflict(instance);
      currentInstance = instance;
      try {
        return als ? als.run(instance, callback) : callback();
      } finally {
        if (!isSingleton) {
          currentInstance = void 0;
        }
      }
    },
    async callAsync(instance, callback) {
      currentInstance = instance;
      const onRestore = () => {
        currentInstance = instance;
      };
      const onLeave = () => currentInstance === instance ? onRestore : void 0;
      asyncHandlers.add(onLeave);
      try {
        const r = als ? als.run(instance, callback) : callback();
        if (!isSingleton) {
          currentInstance = void 0;
        }
        return await r;
      } finally {
        asyncHandlers.delete(onLeave);
      }
    }
  };
}
function createNamespace(defaultOpts = {}) {
  const contexts = {};
  return {
    get(key, opts = {}) {
      if (!contexts[key]) {
        contexts[key] = createContext({ ...defaultOpts, ...opts });
      }
      return contexts[key];
    }
  };
}
const _globalThis = typeof globalThis !== "undefined" ? globalThis : typeof self !== "undefined" ? self : typeof global !== "undefined" ? global : {};
const globalKey = "__unctx__";
const defaultNamespace = _globalThis[globalKey] || (_globalThis[globalKey] = createNamespace());
const getContext = (key, opts = {}) => defaultNamespace.get(key, opts);
const asyncHandlersKey = "__unctx_async_handlers__";
const asyncHandlers = _globalThis[asyncHandlersKey] || (_globalThis[asyncHandlersKey] = /* @__PURE__ */ new Set());

getContext("nitro-app", {
  asyncContext: undefined,
  AsyncLocalStorage: void 0
});

const MAX_DECODE_PASSES = 8;
const PERCENT_ESCAPE_RE = /%([\da-f]{2})/gi;
const HAS_PERCENT_ESCAPE_RE = /%[\da-f]{2}/i;
function canonicalizePath(pathname) {
  let path = pathname;
  for (let pass = 0; HAS_PERCENT_ESCAPE_RE.test(path); pass++) {
    if (pass >= MAX_DECODE_PASSES) {
      return void 0;
    }
    path = path.replace(
      PERCENT_ESCAPE_RE,
      (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))
    );
  }
  const segments = [];
  for (const segment of path.replace(/\\/g, "/").split("/")) {
    if (segment === "" || segment === ".") {
      continue;
    }
    if (segment === "..") {
      segments.pop();
      continue;
    }
    segments.push(segment);
  }
  return "/" + segments.join("/");
}
function whatwgPathname(pathname) {
  try {
    return new URL(pathname, "http://_").pathname;
  } catch {
    return void 0;
  }
}
const READINGS = [
  (p) => canonicalizePath(p),
  (p) => {
    const whatwg = whatwgPathname(p);
    return whatwg === void 0 ? void 0 : canonicalizePath(whatwg);
  }
];
function isPathInScope(pathname, base) {
  if (!base || base === "/") {
    return true;
  }
  for (const read of READINGS) {
    const canonicalBase = read(base);
    const canonical = read(pathname);
    if (canonicalBase === void 0 || canonical === void 0) {
      return false;
    }
    if (canonicalBase === "/") {
      continue;
    }
    if (canonical !== canonicalBase && !canonical.startsWith(canonicalBase + "/")) {
      return false;
    }
  }
  return true;
}
function isTargetInScope(target, targetBase) {
  return isPathInScope(
    parseURL(target).pathname || "/",
    parseURL(targetBase).pathname || ""
  );
}
const LEADING_SEPARATORS_RE = (
  // eslint-disable-next-line no-control-regex
  /^(?:[\u0000-\u0020/\\]|%(?:2f|5c|[01][\da-f]|20))+/i
);
function normalizeRedirectPath(path) {
  return path.replace(LEADING_SEPARATORS_RE, "/");
}
function resolveRedirectTarget(path, to, stripBase) {
  if (!to.endsWith("/**")) {
    return path.includes("?") ? withQuery(to, getQuery$1(path)) : to;
  }
  let targetPath = path;
  if (stripBase) {
    if (!isPathInScope(path.split("?")[0], stripBase)) {
      return void 0;
    }
    targetPath = withoutBase(targetPath, stripBase);
  }
  targetPath = normalizeRedirectPath(targetPath);
  const targetBase = to.slice(0, -3);
  if (targetBase && targetBase !== "/" && !isPathInScope(joinURL("/_", targetPath.split("?")[0]), "/_")) {
    return void 0;
  }
  let target = joinURL(targetBase, targetPath);
  if (!targetBase || targetBase === "/") {
    target = normalizeRedirectPath(target);
    if (!target.startsWith("/")) {
      target = "/" + target;
    }
  }
  if (!isTargetInScope(target, targetBase)) {
    return void 0;
  }
  return target;
}

const config = useRuntimeConfig();
const _routeRulesMatcher = toRouteMatcher(
  createRouter$1({ routes: config.nitro.routeRules })
);
function createRouteRulesHandler(ctx) {
  return eventHandler((event) => {
    const routeRules = getRouteRules(event);
    if (routeRules.headers) {
      setHeaders(event, routeRules.headers);
    }
    if (routeRules.redirect) {
      const target = resolveRedirectTarget(
        event.path,
        routeRules.redirect.to,
        routeRules.redirect._redirectStripBase
      );
      if (target === void 0) {
        throw createError$1({ statusCode: 400 });
      }
      return sendRedirect(event, target, routeRules.redirect.statusCode);
    }
    if (routeRules.proxy) {
      const target = resolveRuleTarget(
        event,
        routeRules.proxy.to,
        routeRules.proxy._proxyStripBase
      );
      return proxyRequest(event, target, {
        fetch: ctx.localFetch,
        ...routeRules.proxy
      });
    }
  });
}
function resolveRuleTarget(event, to, stripBase) {
  if (!to.endsWith("/**")) {
    if (event.path.includes("?")) {
      return withQuery(to, getQuery$1(event.path));
    }
    return to;
  }
  const targetBase = to.slice(0, -3);
  let targetPath = event.path;
  if (stripBase) {
    if (!isPathInScope(event.path.split("?")[0], stripBase)) {
      throw createError$1({ statusCode: 400 });
    }
    targetPath = withoutBase(targetPath, stripBase);
  } else if (targetPath.startsWith("//")) {
    targetPath = targetPath.replace(/^\/+/, "/");
  }
  const target = joinURL(targetBase, targetPath);
  if (!isTargetInScope(target, targetBase)) {
    throw createError$1({ statusCode: 400 });
  }
  return target;
}
function getRouteRules(event) {
  event.context._nitro = event.context._nitro || {};
  if (!event.context._nitro.routeRules) {
    event.context._nitro.routeRules = getRouteRulesForPath(
      withoutBase(event.path.split("?")[0], useRuntimeConfig().app.baseURL)
    );
  }
  return event.context._nitro.routeRules;
}
function getRouteRulesForPath(path) {
  return defu({}, ..._routeRulesMatcher.matchAll(path).reverse());
}

function joinHeaders(value) {
  return Array.isArray(value) ? value.join(", ") : String(value);
}
function normalizeFetchResponse(response) {
  if (!response.headers.has("set-cookie")) {
    return response;
  }
  return new Response(response.body, {
    status: response.status,
    statusText: response.statusText,
    headers: normalizeCookieHeaders(response.headers)
  });
}
function normalizeCookieHeader(header = "") {
  return splitCookiesString(joinHeaders(header));
}
function normalizeCookieHeaders(headers) {
  const outgoingHeaders = new Headers();
  for (const [name, header] of headers) {
    if (name === "set-cookie") {
      for (const cookie of normalizeCookieHeader(header)) {
        outgoingHeaders.append("set-cookie", cookie);
      }
    } else {
      outgoingHeaders.set(name, joinHeaders(header));
    }
  }
  return outgoingHeaders;
}

class BoundedQueue {
  #limit;
  #items = [];
  /** Items before this place were handed over. */
  #next = 0;
  #dropped = 0;
  #closed = false;
  #wake = () => {
  };
  constructor(limit, signal) {
    this.#limit = limit;
    if (signal?.aborted) this.#closed = true;
    else signal?.addEventListener("abort", () => this.close(), { once: true });
  }
  /** Adds an item, or counts it as dropped when the queue is full. */
  push(item) {
    if (this.#closed) return;
    if (this.#items.length - this.#next >= this.#limit) this.#dropped++;
    else this.#items.push(item);
    this.#wake();
  }
  /** How many items did not fit since this was last asked. */
  takeDropped() {
    const dropped = this.#dropped;
    this.#dropped = 0;
    return dropped;
  }
  /** Forgets everything queued. */
  clear() {
    this.#items = [];
    this.#next = 0;
  }
  close() {
    this.#closed = true;
    this.#wake();
  }
  async *[Symbol.asyncIterator]() {
    for (; ; ) {
      while (this.#next < this.#items.length) yield this.#take();
      if (this.#closed) return;
      await new Promise((resolve) => {
        this.#wake = resolve;
      });
    }
  }
  #take() {
    const item = this.#items[this.#next++];
    if (this.#next === this.#items.length || this.#next >= this.#limit) {
      this.#items = this.#items.slice(this.#next);
      this.#next = 0;
    }
    return item;
  }
}

const POOL_BYTES = 4 * 1024;
let pool = Buffer.alloc(0);
function takeRandom(count) {
  if (count > POOL_BYTES) return randomBytes(count);
  if (count > pool.length) pool = randomBytes(POOL_BYTES);
  const taken = Buffer.from(pool.subarray(0, count));
  pool.fill(0, 0, count);
  pool = pool.subarray(count);
  return taken;
}

const ID_PREFIXES = {
  service: "srv",
  deploy: "dep",
  job: "job",
  datastore: "dbs",
  backup: "bak",
  envGroup: "evg",
  gitConnection: "git",
  delivery: "dlv",
  token: "tok",
  environment: "env",
  domain: "dom",
  session: "ses",
  user: "usr",
  cliLogin: "cli",
  certificate: "crt",
  blueprint: "blp",
  notification: "ntf",
  logDrain: "drn"
};
const ID_PATTERN = /^[a-z]{3}-[0-9a-f]{20}$/;
function newId(kind) {
  return `${ID_PREFIXES[kind]}-${takeRandom(10).toString("hex")}`;
}
function isId(kind, text) {
  return ID_PATTERN.test(text) && text.startsWith(`${ID_PREFIXES[kind]}-`);
}
function randomHex(bytes) {
  return takeRandom(bytes).toString("hex");
}

const HIDDEN = "***";
const SECRET_NAME = /(^|_)(password|passphrase|secret|token|authorization|cookie|credentials|private_key|api_key)$/i;
const SECRET_FORMS = [
  [/\bdpl_[0-9a-f]{40}\b/g, `dpl_${HIDDEN}`],
  [/\bwhsec_[\w+/=-]+/g, `whsec_${HIDDEN}`],
  [/\b(Bearer|Basic) [\w.~+/=-]+/gi, `$1 ${HIDDEN}`],
  [/([?&](?:access_token|token|key|code|secret|password)=)[^&\s"']+/gi, `$1${HIDDEN}`],
  // User information of a URL (RFC 3986 section 3.2.1).
  [/:\/\/[^\s/@"']+@/g, `://${HIDDEN}@`]
];
const secrets = /* @__PURE__ */ new Set();
function hide(secret) {
  if (secret !== "") secrets.add(secret);
}
function withoutSecrets(text) {
  let safe = text;
  for (const secret of secrets) safe = safe.replaceAll(secret, HIDDEN);
  for (const [form, rest] of SECRET_FORMS) safe = safe.replace(form, rest);
  return safe;
}
function safeFields(fields) {
  try {
    return JSON.parse(JSON.stringify(fields, safeValue));
  } catch {
    return { unreadable: Object.keys(fields) };
  }
}
function safeValue(name, value) {
  if (typeof value === "bigint") return String(value);
  if (value instanceof Error) return withoutSecrets(value.message);
  if (typeof value !== "string") return value;
  return SECRET_NAME.test(name) && !ID_PATTERN.test(value) ? HIDDEN : withoutSecrets(value);
}

const LOG_LEVELS = ["debug", "info", "warn", "error"];
const KEPT_LINES = 2e3;
const MAX_LINE_BYTES = 8 * 1024;
const FOLLOWER_LINES = 1024;
const kept = [];
const followers = /* @__PURE__ */ new Set();
let threshold = "info";
let format = pretty;
const LOG_FORMATS = ["auto", "json", "pretty"];
function setUpLog(level, wanted) {
  threshold = level;
  const isPretty = wanted === "pretty" || wanted === "auto" && process.stderr.isTTY;
  format = isPretty ? pretty : JSON.stringify;
}
function logger(target) {
  const at = (level) => (message, fields = {}) => write(level, target, message, fields);
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}
function recentLog(level, tail) {
  const wanted = kept.filter((entry) => rank(entry.level) >= rank(level));
  return tail === 0 ? [] : wanted.slice(-tail);
}
function followLog(signal) {
  const queue = new BoundedQueue(FOLLOWER_LINES, signal);
  followers.add(queue);
  signal.addEventListener("abort", () => followers.delete(queue), { once: true });
  return queue;
}
function rank(level) {
  return LOG_LEVELS.indexOf(level);
}
function write(level, target, message, fields) {
  if (rank(level) < rank(threshold)) return;
  const entry = cut({
    ts: (/* @__PURE__ */ new Date()).toISOString(),
    level,
    target,
    message: withoutSecrets(message),
    fields: safeFields(fields)
  });
  kept.push(entry);
  if (kept.length > KEPT_LINES) kept.shift();
  for (const follower of followers) follower.push(entry);
  process.stderr.write(`${format(entry)}
`);
}
function cut(entry) {
  const fieldBytes = Buffer.byteLength(JSON.stringify(entry.fields));
  if (Buffer.byteLength(entry.message) + fieldBytes <= MAX_LINE_BYTES) return entry;
  const keepsFields = fieldBytes <= MAX_LINE_BYTES / 2;
  const room = MAX_LINE_BYTES - (keepsFields ? fieldBytes : "{}".length);
  return {
    ...entry,
    message: startOf(entry.message, room),
    fields: keepsFields ? entry.fields : {}
  };
}
function startOf(text, bytes) {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(bytes));
  return text.slice(0, read);
}
function pretty({ ts, level, target, message, fields }) {
  const extra = Object.keys(fields).length > 0 ? ` ${JSON.stringify(fields)}` : "";
  return `${ts} ${level.padEnd(5)} ${target}: ${message}${extra}`.replace(
    /[\x00-\x1f\x7f-\x9f]/g,
    (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`
  );
}

function refusalOf({ code, message, retryAfterSeconds, details }) {
  return { status: ERRORS[code], code, message, retryAfterSeconds, details };
}
function errorText({ code, message, details }) {
  return JSON.stringify({ error: { code, message, details } });
}
async function refuse(request, response, refusal) {
  const text = errorText(refusal);
  response.statusCode = refusal.status;
  response.statusMessage = STATUS_CODES[refusal.status] ?? "";
  response.setHeader("content-type", "application/json");
  response.setHeader("content-length", Buffer.byteLength(text));
  response.setHeader("cache-control", "no-store");
  if (refusal.status === 401) response.setHeader("www-authenticate", "Bearer");
  if (refusal.retryAfterSeconds !== void 0) response.setHeader("retry-after", refusal.retryAfterSeconds);
  if (request.complete) response.end(text);
  else await endDraining(request, response, text);
}
const LINGER_BYTES = 64 * 1024 * 1024;
const LINGER_MS = 5e3;
async function endDraining(request, response, text) {
  response.setHeader("connection", "close");
  response.write(text);
  let drained = 0;
  await new Promise((resolve) => {
    const timer = setTimeout(resolve, LINGER_MS);
    response.once("close", () => clearTimeout(timer));
    request.on("data", (chunk) => {
      drained += chunk.length;
      if (drained > LINGER_BYTES) resolve();
    });
    for (const end of ["end", "error", "close"]) request.on(end, () => resolve());
    request.resume();
  });
  response.end();
}

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");
function browserAddress(request) {
  const believed = isLoopback(request.socket.remoteAddress);
  const forwarded = (name) => believed ? first(request.headers[name]) : void 0;
  const scheme = forwarded("x-forwarded-proto")?.toLowerCase() ?? "http";
  const host = forwarded("x-forwarded-host") ?? request.headers.host;
  if (scheme !== "http" && scheme !== "https" || !host || /[/\\?#@\s]/.test(host)) return null;
  return URL.parse(`${scheme}://${host}`);
}
function isOwnOrigin(request) {
  const { origin, "sec-fetch-site": site } = request.headers;
  if (origin === void 0) return site === "same-origin" || site === "none";
  return origin === browserAddress(request)?.origin;
}
function isLoopback(address) {
  if (!address) return false;
  return loopback.check(address, isIPv6(address) ? "ipv6" : "ipv4");
}
function first(value) {
  return (Array.isArray(value) ? value[0] : value)?.split(",")[0]?.trim() || void 0;
}

let current;
function provideContext(context) {
  current = context;
}
function useContext() {
  if (!current) throw new Error("the server has not started");
  return current;
}
function useDatabase() {
  return useContext().database;
}

const listeners = /* @__PURE__ */ new Set();
function tellCredentialsEnded() {
  for (const listener of listeners) listener();
}
function onCredentialsEnded(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

//#region src/template.ts
function sqlTemplate(strings, ...values) {
	if (!isTemplateStringsArray(strings) || !Array.isArray(values)) throw new Error("[db0] invalid template invocation");
	const staticIndexes = [];
	let result = strings[0] || "";
	for (let i = 1; i < strings.length; i++) {
		if (result.endsWith("{") && strings[i].startsWith("}")) {
			result = result.slice(0, -1) + values[i - 1] + strings[i].slice(1);
			staticIndexes.push(i - 1);
			continue;
		}
		result += `?${strings[i] ?? ""}`;
	}
	const dynamicValues = values.filter((_, i) => !staticIndexes.includes(i));
	return [result.trim(), dynamicValues];
}
function isTemplateStringsArray(strings) {
	return Array.isArray(strings) && "raw" in strings && Array.isArray(strings.raw);
}

//#endregion
//#region src/database.ts
const SQL_SELECT_RE = /^select/i;
const SQL_RETURNING_RE = /[\s]returning[\s]/i;
const DIALECTS_WITH_RET = new Set(["postgresql", "sqlite"]);
const DISPOSED_ERR = "This database instance has been disposed and cannot be used.";
/**
* Creates and returns a database interface using the specified connector.
* This interface allows you to execute raw SQL queries, prepare SQL statements,
* and execute SQL queries with parameters using tagged template literals.
*
* @param {Connector} connector - The database connector used to execute and prepare SQL statements. See {@link Connector}.
* @returns {Database} The database interface that allows SQL operations. See {@link Database}.
*/
function createDatabase(connector) {
	let _disposed = false;
	const checkDisposed = () => {
		if (_disposed) {
			const err = new Error(DISPOSED_ERR);
			Error.captureStackTrace?.(err, checkDisposed);
			throw err;
		}
	};
	return {
		get dialect() {
			return connector.dialect;
		},
		get disposed() {
			return _disposed;
		},
		getInstance() {
			checkDisposed();
			return connector.getInstance();
		},
		exec: (sql) => {
			checkDisposed();
			return Promise.resolve(connector.exec(sql));
		},
		prepare: (sql) => {
			checkDisposed();
			return connector.prepare(sql);
		},
		sql: async (strings, ...values) => {
			checkDisposed();
			const [sql, params] = sqlTemplate(strings, ...values);
			if (SQL_SELECT_RE.test(sql) || DIALECTS_WITH_RET.has(connector.dialect) && SQL_RETURNING_RE.test(sql)) {
				const rows = await connector.prepare(sql).all(...params);
				return {
					rows,
					success: true
				};
			} else {
				const res = await connector.prepare(sql).run(...params);
				return res;
			}
		},
		dispose: () => {
			if (_disposed) return Promise.resolve();
			_disposed = true;
			try {
				return Promise.resolve(connector.dispose?.());
			} catch (error) {
				return Promise.reject(error);
			}
		},
		[Symbol.asyncDispose]() {
			return this.dispose();
		}
	};
}

class BoundableStatement {
	_statement;
	constructor(rawStmt) {
		this._statement = rawStmt;
	}
	bind(...params) {
		return new BoundStatement(this, params);
	}
}
class BoundStatement {
	#statement;
	#params;
	constructor(statement, params) {
		this.#statement = statement;
		this.#params = params;
	}
	bind(...params) {
		return new BoundStatement(this.#statement, params);
	}
	all() {
		return this.#statement.all(...this.#params);
	}
	run() {
		return this.#statement.run(...this.#params);
	}
	get() {
		return this.#statement.get(...this.#params);
	}
}

function nodeSqlite3Connector(opts) {
	let _db;
	const getDB = () => {
		if (_db) {
			return _db;
		}
		const nodeSqlite = globalThis.process?.getBuiltinModule?.("node:sqlite");
		if (!nodeSqlite) {
			throw new Error("`node:sqlite` module is not available. Please ensure you are running in Node.js >= 22.5 or Deno >= 2.2.");
		}
		if (opts.name === ":memory:") {
			_db = new nodeSqlite.DatabaseSync(":memory:");
			return _db;
		}
		const filePath = resolve(opts.cwd || ".", opts.path || `.data/${opts.name || "db"}.sqlite`);
		mkdirSync(dirname(filePath), { recursive: true });
		_db = new nodeSqlite.DatabaseSync(filePath);
		return _db;
	};
	return {
		name: "node-sqlite",
		dialect: "sqlite",
		getInstance: () => getDB(),
		exec(sql) {
			getDB().exec(sql);
			return { success: true };
		},
		prepare: (sql) => new StatementWrapper(() => getDB().prepare(sql)),
		dispose: () => {
			_db?.close?.();
			_db = undefined;
		}
	};
}
class StatementWrapper extends BoundableStatement {
	async all(...params) {
		const raws = this._statement().all(...params);
		return raws;
	}
	async run(...params) {
		const res = this._statement().run(...params);
		return {
			success: true,
			...res
		};
	}
	async get(...params) {
		const raw = this._statement().get(...params);
		return raw;
	}
}

const initial = `
CREATE TABLE settings (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT;

CREATE TABLE accounts (
  id TEXT PRIMARY KEY,
  only_one INTEGER NOT NULL DEFAULT 1 UNIQUE CHECK (only_one = 1),
  email TEXT NOT NULL,
  password_hash TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  secret_hash TEXT NOT NULL UNIQUE,
  user_agent TEXT,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;

CREATE TABLE api_tokens (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  secret_hash TEXT NOT NULL UNIQUE,
  hint TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  last_used_at INTEGER
) STRICT;

CREATE TABLE environments (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  subnet TEXT UNIQUE,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE services (
  id TEXT PRIMARY KEY,
  environment_id TEXT NOT NULL REFERENCES environments (id),
  name TEXT NOT NULL,
  type TEXT NOT NULL CHECK (type IN ('web_service', 'private_service', 'background_worker', 'static_site', 'cron_job')),
  runtime TEXT NOT NULL,
  repo_url TEXT,
  repo_credentials BLOB,
  branch TEXT,
  root_dir TEXT,
  dockerfile_path TEXT,
  image TEXT,
  build_command TEXT,
  start_command TEXT,
  publish_dir TEXT,
  health_check_path TEXT,
  port INTEGER,
  variable_port INTEGER,
  schedule TEXT,
  disk_mount_path TEXT,
  instances INTEGER NOT NULL,
  memory_limit_mb INTEGER NOT NULL DEFAULT 0,
  cpu_limit REAL NOT NULL DEFAULT 0,
  auto_deploy INTEGER NOT NULL,
  suspended INTEGER NOT NULL DEFAULT 0,
  deleting INTEGER NOT NULL DEFAULT 0,
  custom_domains TEXT NOT NULL DEFAULT '[]',
  deploy_hook_key TEXT NOT NULL,
  live_deploy_id TEXT,
  generation INTEGER NOT NULL DEFAULT 1,
  observed_generation INTEGER NOT NULL DEFAULT 0,
  apply_error TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (environment_id, name)
) STRICT;

CREATE TABLE service_variables (
  service_id TEXT NOT NULL REFERENCES services (id) ON DELETE CASCADE,
  key TEXT NOT NULL,
  value BLOB NOT NULL,
  position INTEGER NOT NULL,
  PRIMARY KEY (service_id, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE deploys (
  id TEXT PRIMARY KEY,
  sequence INTEGER NOT NULL UNIQUE,
  service_id TEXT NOT NULL REFERENCES services (id) ON DELETE CASCADE,
  status TEXT NOT NULL CHECK (status IN ('queued', 'building', 'deploying', 'live', 'build_failed', 'deploy_failed', 'canceled', 'deactivated')),
  trigger TEXT NOT NULL,
  source TEXT NOT NULL,
  repo_credentials BLOB,
  archive_id TEXT,
  clear_cache INTEGER NOT NULL DEFAULT 0,
  rollback_of TEXT,
  commit_sha TEXT,
  commit_message TEXT,
  image TEXT,
  image_id TEXT,
  port INTEGER,
  snapshot BLOB,
  was_live INTEGER NOT NULL DEFAULT 0,
  error TEXT,
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  finished_at INTEGER
) STRICT;
CREATE INDEX deploys_by_service ON deploys (service_id, sequence);
CREATE INDEX deploys_in_progress ON deploys (sequence) WHERE status IN ('queued', 'building', 'deploying');
CREATE UNIQUE INDEX deploys_one_live ON deploys (service_id) WHERE status = 'live';

CREATE TABLE instances (
  id TEXT PRIMARY KEY,
  service_id TEXT NOT NULL REFERENCES services (id) ON DELETE CASCADE,
  deploy_id TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('starting', 'ready', 'failing', 'down', 'draining')),
  address TEXT NOT NULL,
  upstream_host TEXT,
  upstream_port INTEGER,
  restarts INTEGER NOT NULL DEFAULT 0,
  exit_code INTEGER,
  reason TEXT,
  started_at INTEGER,
  left_rotation_at INTEGER,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX instances_by_service ON instances (service_id);

CREATE TABLE addresses (
  environment_id TEXT NOT NULL REFERENCES environments (id) ON DELETE CASCADE,
  address TEXT NOT NULL,
  holder TEXT,
  released_at INTEGER,
  PRIMARY KEY (environment_id, address)
) STRICT, WITHOUT ROWID;
CREATE INDEX addresses_by_holder ON addresses (holder);
`;

const everythingAServiceCanBe = `
ALTER TABLE services ADD COLUMN pre_deploy_command TEXT;

ALTER TABLE deploys ADD COLUMN site_id TEXT;
ALTER TABLE deploys ADD COLUMN health_check_path TEXT;
UPDATE deploys SET health_check_path = (SELECT health_check_path FROM services WHERE services.id = service_id);
ALTER TABLE deploys ADD COLUMN pre_deployed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE deploys ADD COLUMN replaced_at INTEGER;
CREATE INDEX deploys_with_image ON deploys (service_id, finished_at) WHERE image_id IS NOT NULL;
CREATE INDEX deploys_by_site ON deploys (service_id, replaced_at) WHERE site_id IS NOT NULL;

CREATE TABLE env_groups (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE env_group_variables (
  group_id TEXT NOT NULL REFERENCES env_groups (id) ON DELETE CASCADE,
  key TEXT NOT NULL,
  value BLOB NOT NULL,
  position INTEGER NOT NULL,
  PRIMARY KEY (group_id, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE env_group_links (
  service_id TEXT NOT NULL REFERENCES services (id) ON DELETE CASCADE,
  group_id TEXT NOT NULL REFERENCES env_groups (id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  PRIMARY KEY (service_id, group_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX env_group_links_by_group ON env_group_links (group_id);

CREATE TABLE variable_references (
  holder TEXT NOT NULL,
  key TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('service', 'datastore')),
  name TEXT NOT NULL,
  property TEXT NOT NULL,
  PRIMARY KEY (holder, key, kind, name, property)
) STRICT, WITHOUT ROWID;
CREATE INDEX variable_references_by_name ON variable_references (kind, name);

ALTER TABLE addresses ADD COLUMN part TEXT NOT NULL DEFAULT 'instance' CHECK (part IN ('instance', 'job'));
CREATE INDEX addresses_of_jobs ON addresses (holder) WHERE part = 'job' AND holder IS NOT NULL;

CREATE TABLE jobs (
  id TEXT PRIMARY KEY,
  sequence INTEGER NOT NULL UNIQUE,
  service_id TEXT NOT NULL REFERENCES services (id) ON DELETE CASCADE,
  status TEXT NOT NULL CHECK (status IN ('pending', 'running', 'succeeded', 'failed', 'canceled')),
  trigger TEXT NOT NULL CHECK (trigger IN ('schedule', 'manual')),
  command TEXT,
  own_command INTEGER NOT NULL,
  deploy_id TEXT NOT NULL,
  image TEXT,
  snapshot BLOB,
  exit_code INTEGER,
  error TEXT,
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  finished_at INTEGER
) STRICT;
CREATE INDEX jobs_by_service ON jobs (service_id, sequence);
CREATE INDEX jobs_in_progress ON jobs (sequence) WHERE status IN ('pending', 'running');

CREATE TABLE schedule_marks (
  service_id TEXT PRIMARY KEY REFERENCES services (id) ON DELETE CASCADE,
  schedule TEXT NOT NULL,
  seen_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE resting_subnets (
  subnet TEXT PRIMARY KEY,
  released_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`;

const webhookDeliveries = `
CREATE TABLE webhook_deliveries (
  sequence INTEGER PRIMARY KEY,
  body_digest TEXT NOT NULL UNIQUE,
  delivery_id TEXT UNIQUE,
  received_at INTEGER NOT NULL
) STRICT;
`;

const crashesOfDeploys = `
ALTER TABLE deploys ADD COLUMN crashes INTEGER NOT NULL DEFAULT 0;
`;

const madeInTheEngine = `
CREATE TABLE engine_things (
  kind TEXT NOT NULL CHECK (kind IN ('container', 'image', 'network', 'volume', 'build_cache')),
  name TEXT NOT NULL,
  engine_id TEXT,
  PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID;
INSERT INTO engine_things (kind, name) SELECT 'container', id FROM instances;
INSERT OR IGNORE INTO engine_things (kind, name)
  SELECT 'container', holder FROM addresses WHERE part = 'job' AND holder IS NOT NULL;
INSERT INTO engine_things (kind, name)
  SELECT 'image', 'deployer-' || settings.value || '/' || deploys.service_id || ':' || deploys.id
  FROM deploys JOIN settings ON settings.key = 'server_id' WHERE deploys.image_id IS NOT NULL;
INSERT INTO engine_things (kind, name)
  SELECT 'network', 'deployer-' || id FROM environments WHERE subnet IS NOT NULL;
INSERT INTO engine_things (kind, name) SELECT 'volume', 'deployer-' || id FROM services;

ALTER TABLE instances ADD COLUMN settings TEXT;
ALTER TABLE deploys ADD COLUMN stops_first INTEGER NOT NULL DEFAULT 0;
`;

const settingsSaved = `
ALTER TABLE services ADD COLUMN settings_updated_at INTEGER NOT NULL DEFAULT 0;
UPDATE services SET settings_updated_at = updated_at;
`;

const domainsAndCertificates = `
CREATE TABLE domains (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  source TEXT NOT NULL CHECK (source IN ('config', 'api')),
  status TEXT NOT NULL CHECK (status IN ('pending', 'active', 'failed')),
  is_default INTEGER NOT NULL DEFAULT 0,
  checks TEXT NOT NULL DEFAULT '[]',
  created_at INTEGER NOT NULL,
  checked_at INTEGER,
  verified_at INTEGER
) STRICT;
CREATE UNIQUE INDEX one_default_domain ON domains (is_default) WHERE is_default = 1;
CREATE UNIQUE INDEX one_base_domain ON domains (source) WHERE source = 'config';

ALTER TABLE services ADD COLUMN canonical_domain TEXT;

CREATE TABLE certificates (
  id TEXT PRIMARY KEY,
  status TEXT NOT NULL CHECK (status IN ('pending', 'issuing', 'issued', 'failed')),
  directory TEXT NOT NULL,
  error TEXT,
  retry_at INTEGER,
  failures INTEGER NOT NULL DEFAULT 0,
  order_url TEXT,
  version TEXT,
  issuer TEXT,
  not_before INTEGER,
  not_after INTEGER,
  renew_at INTEGER,
  advised_until INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE uploaded_certificates (
  id TEXT PRIMARY KEY,
  hosts TEXT NOT NULL,
  issuer TEXT NOT NULL,
  not_before INTEGER NOT NULL,
  not_after INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
`;

const datastores = `
CREATE TABLE datastores (
  id TEXT PRIMARY KEY,
  environment_id TEXT NOT NULL REFERENCES environments (id),
  name TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('relational', 'keyvalue')),
  repository TEXT NOT NULL,
  version TEXT NOT NULL,
  image_id TEXT,
  status TEXT NOT NULL CHECK (status IN ('creating', 'available', 'unavailable', 'upgrading', 'restoring', 'failed', 'deleting')),
  error TEXT,
  database TEXT,
  username TEXT NOT NULL,
  password BLOB NOT NULL,
  volume TEXT NOT NULL,
  address TEXT,
  host_port INTEGER UNIQUE,
  memory_limit_mb INTEGER NOT NULL DEFAULT 0,
  cpu_limit REAL NOT NULL DEFAULT 0,
  generation INTEGER NOT NULL DEFAULT 1,
  observed_generation INTEGER NOT NULL DEFAULT 0,
  apply_error TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (environment_id, name)
) STRICT;
`;

const backups = `
ALTER TABLE datastores ADD COLUMN backup_schedule TEXT;
ALTER TABLE datastores ADD COLUMN backup_retention INTEGER NOT NULL DEFAULT 7;
ALTER TABLE datastores ADD COLUMN backup_seen_at INTEGER;

CREATE TABLE backups (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  datastore_id TEXT NOT NULL REFERENCES datastores (id) ON DELETE CASCADE,
  status TEXT NOT NULL CHECK (status IN ('running', 'succeeded', 'failed')),
  trigger TEXT NOT NULL CHECK (trigger IN ('manual', 'schedule', 'upgrade')),
  size_bytes INTEGER,
  sha256 TEXT,
  error TEXT,
  created_at INTEGER NOT NULL,
  finished_at INTEGER
) STRICT;
CREATE INDEX backups_of ON backups (datastore_id, sequence);
CREATE UNIQUE INDEX backups_running ON backups (datastore_id) WHERE status = 'running';

CREATE TABLE replacements (
  datastore_id TEXT PRIMARY KEY REFERENCES datastores (id) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('first', 'restore', 'upgrade')),
  backup_id TEXT,
  version TEXT NOT NULL,
  volume TEXT NOT NULL UNIQUE,
  reads_only INTEGER NOT NULL DEFAULT 0,
  tries INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE spare_volumes (
  volume TEXT PRIMARY KEY,
  datastore_id TEXT NOT NULL,
  remove_at INTEGER NOT NULL
) STRICT;
`;

const copiesOfBackups = `
ALTER TABLE backups ADD COLUMN object_url TEXT;

-- While one is copied the next may be made.
DROP INDEX backups_running;
CREATE UNIQUE INDEX backups_running ON backups (datastore_id) WHERE status = 'running' AND sha256 IS NULL;

CREATE TABLE spare_objects (
  url TEXT PRIMARY KEY
) STRICT;
`;

const gitConnections = `
CREATE TABLE git_connections (
  id TEXT PRIMARY KEY,
  provider TEXT NOT NULL CHECK (provider IN ('gitprov_a', 'gitprov_b')),
  auth TEXT NOT NULL CHECK (auth IN ('hosted_app', 'oauth', 'token')),
  status TEXT NOT NULL CHECK (status IN ('connected', 'pending')),
  base_url TEXT,
  organization TEXT,
  account TEXT,
  account_name TEXT,
  app_id INTEGER,
  app_slug TEXT,
  app_url TEXT,
  installation_id INTEGER,
  manage_url TEXT,
  client_id TEXT,
  push_events INTEGER NOT NULL DEFAULT 0,
  repository_selection TEXT,
  scopes TEXT NOT NULL DEFAULT '[]',
  token_hint TEXT,
  token_expires_at INTEGER,
  secrets BLOB,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE git_applications (
  base_url TEXT PRIMARY KEY,
  client_id TEXT NOT NULL,
  client_secret BLOB NOT NULL
) STRICT;

CREATE TABLE git_readers (
  repository TEXT PRIMARY KEY,
  connection_id TEXT NOT NULL REFERENCES git_connections (id) ON DELETE CASCADE
) STRICT;

CREATE TABLE git_deliveries (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  at INTEGER NOT NULL,
  event TEXT,
  delivery TEXT,
  repository TEXT,
  ref TEXT,
  commit_sha TEXT,
  verdict TEXT NOT NULL CHECK (verdict IN ('deployed', 'ignored', 'refused')),
  reason TEXT,
  deploys TEXT NOT NULL
) STRICT;

ALTER TABLE services ADD COLUMN watch_paths TEXT;
`;

const logsAndNotifications = `
CREATE TABLE log_instances (
  id TEXT PRIMARY KEY,
  service_id TEXT NOT NULL REFERENCES services (id) ON DELETE CASCADE,
  deploy_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  gone_at INTEGER
) STRICT;
CREATE INDEX log_instances_by_service ON log_instances (service_id, created_at);

CREATE TABLE notifications (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('webhook', 'email', 'slack', 'discord', 'ntfy')),
  url BLOB,
  recipients TEXT NOT NULL DEFAULT '[]',
  secret BLOB,
  events TEXT,
  environment_id TEXT REFERENCES environments (id) ON DELETE CASCADE,
  services TEXT,
  enabled INTEGER NOT NULL DEFAULT 1,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE notification_deliveries (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  notification_id TEXT NOT NULL REFERENCES notifications (id) ON DELETE CASCADE,
  type TEXT NOT NULL,
  message TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'delivered', 'failed')),
  attempts TEXT NOT NULL DEFAULT '[]',
  next_attempt_at INTEGER,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX deliveries_of_notification ON notification_deliveries (notification_id, sequence);
CREATE INDEX deliveries_due ON notification_deliveries (next_attempt_at) WHERE status = 'pending';

CREATE TABLE happenings (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  type TEXT NOT NULL,
  subject TEXT NOT NULL,
  detail TEXT,
  at INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000 AS INTEGER))
) STRICT;

CREATE TABLE told (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL DEFAULT ''
) STRICT, WITHOUT ROWID;

CREATE TRIGGER deploy_started AFTER UPDATE OF status ON deploys
WHEN OLD.status = 'queued' AND NEW.status IN ('building', 'deploying')
  AND NOT EXISTS (SELECT 1 FROM told WHERE key = 'started ' || NEW.id)
BEGIN
  INSERT INTO told (key) VALUES ('started ' || NEW.id);
  INSERT INTO happenings (type, subject) VALUES ('deploy.started', NEW.id);
END;
CREATE TRIGGER deploy_succeeded AFTER UPDATE OF status ON deploys
WHEN NEW.status = 'live' AND OLD.status <> 'live'
BEGIN INSERT INTO happenings (type, subject) VALUES ('deploy.succeeded', NEW.id); END;
CREATE TRIGGER deploy_failed AFTER UPDATE OF status ON deploys
WHEN NEW.status IN ('build_failed', 'deploy_failed') AND OLD.status <> NEW.status
BEGIN INSERT INTO happenings (type, subject) VALUES ('deploy.failed', NEW.id); END;
CREATE TRIGGER deploy_forgotten AFTER DELETE ON deploys
BEGIN DELETE FROM told WHERE key = 'started ' || OLD.id; END;

CREATE TRIGGER job_failed AFTER UPDATE OF status ON jobs
WHEN NEW.status = 'failed' AND OLD.status <> 'failed'
BEGIN INSERT INTO happenings (type, subject) VALUES ('job.failed', NEW.id); END;

CREATE TRIGGER datastore_down AFTER UPDATE OF status ON datastores
WHEN NEW.status IN ('unavailable', 'failed') AND OLD.status IN ('available', 'upgrading', 'restoring')
  AND NOT EXISTS (SELECT 1 FROM told WHERE key = 'down ' || NEW.id)
BEGIN
  INSERT INTO told (key) VALUES ('down ' || NEW.id);
  INSERT INTO happenings (type, subject, detail) VALUES ('datastore.down', NEW.id, NEW.error);
END;
CREATE TRIGGER datastore_recovered AFTER UPDATE OF status ON datastores
WHEN NEW.status = 'available' AND EXISTS (SELECT 1 FROM told WHERE key = 'down ' || NEW.id)
BEGIN
  DELETE FROM told WHERE key = 'down ' || NEW.id;
  INSERT INTO happenings (type, subject) VALUES ('datastore.recovered', NEW.id);
END;
CREATE TRIGGER datastore_forgotten AFTER DELETE ON datastores
BEGIN DELETE FROM told WHERE key = 'down ' || OLD.id; END;

CREATE TRIGGER service_forgotten AFTER DELETE ON services
BEGIN DELETE FROM told WHERE key = 'down ' || OLD.id; END;

CREATE TRIGGER backup_failed AFTER UPDATE OF status ON backups
WHEN NEW.status = 'failed' AND OLD.status <> 'failed'
BEGIN INSERT INTO happenings (type, subject) VALUES ('backup.failed', NEW.id); END;

CREATE TRIGGER certificate_failed AFTER UPDATE OF status ON certificates
WHEN NEW.status = 'failed' AND NOT EXISTS (SELECT 1 FROM told WHERE key = 'certificate ' || NEW.id)
BEGIN
  INSERT INTO told (key) VALUES ('certificate ' || NEW.id);
  INSERT INTO happenings (type, subject, detail) VALUES ('certificate.failed', NEW.id, NEW.error);
END;
CREATE TRIGGER certificate_issued AFTER UPDATE OF status ON certificates WHEN NEW.status = 'issued'
BEGIN DELETE FROM told WHERE key IN ('certificate ' || NEW.id, 'expiring ' || NEW.id); END;
CREATE TRIGGER certificate_forgotten AFTER DELETE ON certificates
BEGIN DELETE FROM told WHERE key IN ('certificate ' || OLD.id, 'expiring ' || OLD.id); END;

CREATE TABLE log_drains (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('syslog', 'http', 'loki', 'otlp')),
  url BLOB NOT NULL,
  token BLOB,
  environment_id TEXT REFERENCES environments (id) ON DELETE CASCADE,
  services TEXT,
  enabled INTEGER NOT NULL DEFAULT 1,
  sent INTEGER NOT NULL DEFAULT 0,
  dropped INTEGER NOT NULL DEFAULT 0,
  last_error TEXT,
  last_sent_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE log_drain_places (
  drain_id TEXT NOT NULL REFERENCES log_drains (id) ON DELETE CASCADE,
  service_id TEXT NOT NULL REFERENCES services (id) ON DELETE CASCADE,
  next_line INTEGER NOT NULL,
  PRIMARY KEY (drain_id, service_id)
) STRICT, WITHOUT ROWID;
`;

const blueprints = `
CREATE TABLE blueprints (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  repo_url TEXT NOT NULL,
  repo_credentials BLOB,
  branch TEXT,
  path TEXT,
  environment TEXT,
  auto_sync INTEGER NOT NULL,
  overwrite_variables INTEGER NOT NULL,
  pending_commit TEXT,
  synced_digest TEXT,
  last_sync TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE blueprint_variables (
  holder TEXT NOT NULL,
  key TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  generated INTEGER NOT NULL,
  PRIMARY KEY (holder, key)
) STRICT;
CREATE TRIGGER blueprint_variables_of_service AFTER DELETE ON services
BEGIN DELETE FROM blueprint_variables WHERE holder = OLD.id; END;
CREATE TRIGGER blueprint_variables_of_group AFTER DELETE ON env_groups
BEGIN DELETE FROM blueprint_variables WHERE holder = OLD.id; END;
`;

const aptPackages = `
ALTER TABLE services ADD COLUMN apt_packages TEXT NOT NULL DEFAULT '[]';
`;

const versionsOfKeptVolumes = `
ALTER TABLE spare_volumes ADD COLUMN version TEXT;
`;

const deliveriesOfLogDrains = `
CREATE TABLE log_drain_deliveries (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  drain_id TEXT NOT NULL REFERENCES log_drains (id) ON DELETE CASCADE,
  status TEXT NOT NULL CHECK (status IN ('delivered', 'failed', 'dropped')),
  lines INTEGER NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 1,
  error TEXT,
  began_at INTEGER NOT NULL,
  ended_at INTEGER NOT NULL
) STRICT;
CREATE INDEX deliveries_of_log_drain ON log_drain_deliveries (drain_id, sequence);
`;

const compression = `
ALTER TABLE services ADD COLUMN compression INTEGER NOT NULL DEFAULT 0;
`;

const authorsOfCommits = `
ALTER TABLE deploys ADD COLUMN commit_author TEXT;
`;

const migrations = [
  initial,
  everythingAServiceCanBe,
  webhookDeliveries,
  crashesOfDeploys,
  madeInTheEngine,
  settingsSaved,
  domainsAndCertificates,
  datastores,
  backups,
  copiesOfBackups,
  gitConnections,
  logsAndNotifications,
  blueprints,
  aptPackages,
  versionsOfKeptVolumes,
  deliveriesOfLogDrains,
  compression,
  authorsOfCommits
];

async function openDatabase(path) {
  const fresh = !existsSync(path);
  const connection = createDatabase(nodeSqlite3Connector({ path }));
  const raw = await connection.getInstance();
  if (fresh) chmodSync(path, 384);
  execute(
    raw,
    "PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON"
  );
  const database = wrap(raw, () => Promise.resolve(connection.dispose()));
  migrate(database, raw);
  return database;
}
function wrap(raw, close) {
  const statements = /* @__PURE__ */ new Map();
  const prepare = (sql) => {
    const known = statements.get(sql);
    if (known) return known;
    const statement = raw.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
  let open = false;
  let writes = 0;
  return {
    all: (sql, ...values) => prepare(sql).all(...values),
    get: (sql, ...values) => prepare(sql).get(...values),
    run: (sql, ...values) => {
      writes++;
      return Number(explained(() => prepare(sql).run(...values)).changes);
    },
    // The pragma tells of other connections alone (sqlite.org/pragma.html#pragma_data_version).
    version: () => `${writes}.${String(prepare("PRAGMA data_version").get().data_version)}`,
    transaction(work) {
      if (open) return work();
      raw.exec("BEGIN IMMEDIATE");
      open = true;
      try {
        const result = work();
        if (result instanceof Promise) throw new TypeError("a transaction must be synchronous");
        execute(raw, "COMMIT");
        return result;
      } catch (error) {
        writes++;
        if (raw.isTransaction) raw.exec("ROLLBACK");
        throw error;
      } finally {
        open = false;
      }
    },
    close
  };
}
const FULL = 13;
function explained(write) {
  try {
    return write();
  } catch (cause) {
    if (cause.errcode !== FULL) throw cause;
    throw new AppError("database_error", "the disk of the server's data is full: free some space", { cause });
  }
}
function execute(raw, sql) {
  explained(() => raw.exec(sql));
}
function migrate(database, raw) {
  const version = database.get("PRAGMA user_version").user_version;
  if (version > migrations.length) {
    throw new AppError(
      "database_error",
      `the database is at version ${version}, this server knows up to ${migrations.length}: start the newer server that wrote it`
    );
  }
  for (const [index, migration] of migrations.entries()) {
    if (index < version) continue;
    database.transaction(() => {
      execute(raw, migration);
      execute(raw, `PRAGMA user_version = ${index + 1}`);
    });
  }
}
function isUniqueViolation(error) {
  return error instanceof Error && error.message.startsWith("UNIQUE constraint failed");
}

const derive = promisify(argon2);
const PARAMETERS = { memory: 19456, passes: 2, parallelism: 1 };
const SALT_BYTES = 16;
const TAG_BYTES$1 = 32;
async function hashPassword(password) {
  const salt = randomBytes(SALT_BYTES);
  const tag = await oneAtATime(() => compute(password, salt, TAG_BYTES$1, PARAMETERS));
  const { memory, passes, parallelism } = PARAMETERS;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${encode(salt)}$${encode(tag)}`;
}
async function verifyPassword(password, hash) {
  const match = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/.exec(
    hash ?? ""
  );
  if (!match) {
    await oneAtATime(() => compute(password, Buffer.alloc(SALT_BYTES), TAG_BYTES$1, PARAMETERS));
    return false;
  }
  const [, memory, passes, parallelism, salt, expected] = match;
  const tag = Buffer.from(expected, "base64");
  const parameters = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
  const actual = await oneAtATime(
    () => compute(password, Buffer.from(salt, "base64"), tag.length, parameters)
  );
  return timingSafeEqual(actual, tag);
}
function compute(password, nonce, tagLength, parameters) {
  return derive("argon2id", { message: Buffer.from(password, "utf8"), nonce, tagLength, ...parameters });
}
let last = Promise.resolve();
function oneAtATime(work) {
  const result = last.then(work);
  last = result.catch(() => {
  });
  return result;
}
function encode(bytes) {
  return bytes.toString("base64").replace(/={1,2}$/, "");
}

function timestamp(milliseconds) {
  return milliseconds === null ? null : new Date(milliseconds).toISOString();
}
const TIMESTAMP = /^(\d{4}-\d{2}-\d{2})T([01]\d|2[0-3]):\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]([01]\d|2[0-3]):\d{2})$/i;
const DAY_CHARACTERS = "YYYY-MM-DD".length;
function parseTimestamp(text) {
  const [, day] = TIMESTAMP.exec(text) ?? [];
  if (day === void 0) return null;
  const moment = new Date(text.toUpperCase());
  if (Number.isNaN(moment.getTime()) || /^[+-]/.test(moment.toISOString())) return null;
  const isThere = new Date(day).toISOString().slice(0, DAY_CHARACTERS) === day;
  return isThere ? moment.getTime() : null;
}

const MAX_EMAIL = 254;
const MIN_PASSWORD = 8;
const MAX_PASSWORD = 256;
const Timestamp$2 = z.string().meta({ format: "date-time", examples: ["2026-01-02T03:04:05.678Z"] });
const Email = z.string().max(MAX_EMAIL).regex(
  /^[^\s@\p{Cc}\p{Cf}\p{Cs}]+@[^\s@\p{Cc}\p{Cf}\p{Cs}]+$/u,
  "must be an e-mail address: one @, no spaces or invisible characters"
).meta({
  description: "E-mail address; letter case does not matter at sign-in",
  examples: ["admin@example.com"]
});
function text(least, most) {
  return z.string().refine(
    (given) => [...given].length >= least,
    `must have at least ${least} character${least === 1 ? "" : "s"}`
  ).refine((given) => [...given].length <= most, `must have at most ${most} characters`).meta({ minLength: least, maxLength: most });
}
const Password = text(MIN_PASSWORD, MAX_PASSWORD).meta({
  description: `${MIN_PASSWORD} to ${MAX_PASSWORD} characters, any characters`,
  examples: ["correct horse battery staple"]
});
const User = z.object({
  id: z.string().meta({ examples: ["usr-0123456789abcdef0123"] }),
  email: z.string().meta({ examples: ["admin@example.com"] }),
  created_at: Timestamp$2
}).meta({ id: "User", description: "The administrator" });
const AuthStatus = z.object({
  auth: z.enum(["session", "token"]).nullable().meta({
    description: "How the request was authenticated; null when it was not",
    examples: ["session"]
  }),
  setup_required: z.boolean().meta({ description: "True while the server has no account", examples: [false] }),
  user: User.nullable().meta({ description: "Null when not signed in" })
}).meta({ id: "AuthStatus", description: "Who is signed in" });
const Session = z.object({
  id: z.string().meta({ examples: ["ses-0123456789abcdef0123"] }),
  created_at: Timestamp$2,
  last_used_at: Timestamp$2.meta({ description: "Exact to a minute" }),
  expires_at: Timestamp$2.meta({ description: "30 days after the last use" }),
  current: z.boolean().meta({ description: "The session of this request", examples: [true] }),
  user_agent: z.string().nullable().meta({
    description: "The browser, as it named itself at sign-in",
    examples: ["Mozilla/5.0 Firefox/146.0"]
  })
}).meta({ id: "Session", description: "A browser that is signed in" });
const SignIn = z.strictObject({
  email: z.string().meta({ examples: ["admin@example.com"] }),
  password: z.string().meta({ examples: ["correct horse battery staple"] })
}).meta({ id: "SignIn", description: "Credentials of the administrator" });
const Setup = z.strictObject({
  code: z.string().meta({
    description: "The setup code, from the link that the server prints or from <data-dir>/setup_code",
    examples: ["0123456789abcdef0123456789abcdef01234567"]
  }),
  email: Email,
  password: Password
}).meta({ id: "Setup", description: "The account to make" });
const PasswordChange = z.strictObject({
  current_password: z.string().meta({ examples: ["correct horse battery staple"] }),
  new_password: Password
}).meta({ id: "PasswordChange", description: "The password in use and the one to use from now on" });
function toUser(row) {
  return { id: row.id, email: row.email, created_at: timestamp(row.created_at) };
}
function toSession(row, currentId) {
  return {
    id: row.id,
    created_at: timestamp(row.created_at),
    last_used_at: timestamp(row.last_used_at),
    expires_at: timestamp(row.expires_at),
    current: row.id === currentId,
    user_agent: row.user_agent
  };
}

const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const FINGERPRINT_CHARACTERS = 32;
function openVault(keyFile) {
  if (!existsSync(keyFile)) writePrivateFile(keyFile, randomBytes(KEY_BYTES));
  const key = readFileSync(keyFile);
  if (key.length !== KEY_BYTES) {
    throw new AppError("io_error", `${keyFile} is not a key of ${KEY_BYTES} bytes: restore it from a backup`);
  }
  return {
    seal: (text) => seal(key, text),
    open: (sealed) => open(key, sealed),
    fingerprint: (text) => createHmac("sha256", key).update(text).digest("hex").slice(0, FINGERPRINT_CHARACTERS)
  };
}
function seal(key, text) {
  const iv = takeRandom(IV_BYTES);
  const cipher = createCipheriv("aes-256-gcm", key, iv);
  const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), body]);
}
function open(key, sealed) {
  try {
    const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(0, IV_BYTES));
    decipher.setAuthTag(sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
    return decipher.update(sealed.subarray(IV_BYTES + TAG_BYTES), void 0, "utf8") + decipher.final("utf8");
  } catch (cause) {
    throw new AppError(
      "internal_error",
      "a stored secret cannot be read: the key file is not the one it was written with",
      { cause }
    );
  }
}
function sha256(text) {
  return createHash("sha256").update(text).digest("hex");
}
function sameSecret(left, right) {
  return timingSafeEqual(
    createHash("sha256").update(left).digest(),
    createHash("sha256").update(right).digest()
  );
}

function selectAccount(database) {
  return database.get("SELECT id, email, password_hash, created_at FROM accounts");
}
function insertAccount(database, row) {
  database.run(
    "INSERT INTO accounts (id, email, password_hash, created_at) VALUES (?, ?, ?, ?)",
    row.id,
    row.email,
    row.password_hash,
    row.created_at
  );
}
function replacePasswordHash(database, from, to) {
  return database.run("UPDATE accounts SET password_hash = ? WHERE password_hash = ?", to, from) > 0;
}
function notePasswordReset(database, mark) {
  database.run(
    "INSERT INTO settings (key, value) VALUES ('password_reset', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
    mark
  );
}
function selectPasswordReset(database) {
  return database.get("SELECT value FROM settings WHERE key = 'password_reset'")?.value;
}
function insertSession(database, row, secretHash) {
  database.run(
    "INSERT INTO sessions (id, secret_hash, user_agent, created_at, last_used_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)",
    row.id,
    secretHash,
    row.user_agent,
    row.created_at,
    row.last_used_at,
    row.expires_at
  );
}
const SESSION = "SELECT id, user_agent, created_at, last_used_at, expires_at FROM sessions";
function selectSessionBySecret(database, secretHash, now) {
  return database.get(`${SESSION} WHERE secret_hash = ? AND expires_at > ?`, secretHash, now);
}
function selectSessions(database, now) {
  return database.all(
    `${SESSION} WHERE expires_at > ? ORDER BY last_used_at DESC, created_at DESC, id`,
    now
  );
}
function touchSession(database, id, lastUsedAt, expiresAt) {
  database.run("UPDATE sessions SET last_used_at = ?, expires_at = ? WHERE id = ?", lastUsedAt, expiresAt, id);
}
function deleteSession(database, id, now) {
  return database.run("DELETE FROM sessions WHERE id = ? AND expires_at > ?", id, now) > 0;
}
function deleteOtherSessions(database, keptId) {
  database.run("DELETE FROM sessions WHERE id IS NOT ?", keptId);
}
function trimSessions(database, now, kept) {
  database.run("DELETE FROM sessions WHERE expires_at <= ?", now);
  database.run(
    "DELETE FROM sessions WHERE id IN (SELECT id FROM sessions ORDER BY last_used_at DESC, created_at DESC, id LIMIT -1 OFFSET ?)",
    kept
  );
}

const SESSION_LIFETIME_MS = 30 * 24 * 36e5;
const TOUCH_INTERVAL_MS$1 = 6e4;
const SECRET_BYTES = 32;
const MAX_SESSIONS = 1e3;
const MAX_USER_AGENT_CHARACTERS = 512;
const log$3 = logger("accounts");
function openSession(database, userAgent) {
  const secret = randomHex(SECRET_BYTES);
  const now = Date.now();
  const row = {
    id: newId("session"),
    user_agent: userAgent?.slice(0, MAX_USER_AGENT_CHARACTERS) || null,
    created_at: now,
    last_used_at: now,
    expires_at: now + SESSION_LIFETIME_MS
  };
  insertSession(database, row, sha256(secret));
  trimSessions(database, now, MAX_SESSIONS);
  return { id: row.id, secret };
}
function resumeSession(secret) {
  const now = Date.now();
  const session = selectSessionBySecret(useDatabase(), sha256(secret), now);
  if (!session) return void 0;
  if (now - session.last_used_at < TOUCH_INTERVAL_MS$1) return { id: session.id, renewed: false };
  try {
    touchSession(useDatabase(), session.id, now, now + SESSION_LIFETIME_MS);
  } catch (error) {
    log$3.warn("the last use of a session could not be written", {
      session: session.id,
      error: messageOf(error)
    });
  }
  return { id: session.id, renewed: true };
}
function listSessions(currentId) {
  return selectSessions(useDatabase(), Date.now()).map((row) => toSession(row, currentId));
}
function endSession(id) {
  const ended = deleteSession(useDatabase(), id, Date.now());
  if (ended) tellCredentialsEnded();
  return ended;
}
function revokeSession(id) {
  if (!endSession(id)) throw new AppError("not_found", `there is no session ${id}`);
}

function readSecretFile(path) {
  return existsSync(path) ? readFileSync(path, "utf8").trim() || void 0 : void 0;
}
function ensureSecretFile(path, make) {
  const known = readSecretFile(path);
  if (known === void 0) {
    const secret = make();
    writePrivateFile(path, `${secret}
`);
    return secret;
  }
  if ((statSync(path).mode & 63) !== 0) chmodSync(path, PRIVATE_FILE_MODE);
  return known;
}

const CODE_BYTES = 20;
function ensureSetupCode(context) {
  if (!selectAccount(context.database))
    return ensureSecretFile(codeFile(context), () => randomHex(CODE_BYTES));
  removeSetupCode(context);
  return null;
}
function isSetupCode(context, code) {
  const expected = readSecretFile(codeFile(context));
  return expected !== void 0 && sameSecret(code, expected);
}
function removeSetupCode(context) {
  rmSync(codeFile(context), { force: true });
}
function codeFile(context) {
  return join(context.options.dataDirectory, "setup_code");
}

const MAX_FAILURES = 10;
const WINDOW_MS = 5 * 6e4;
const MAX_WAITING = 256;
class Throttle {
  #now;
  /** When each failure was judged, oldest first; never more than MAX_FAILURES. */
  #failures = [];
  #waiting = 0;
  #last = Promise.resolve();
  /** `now` is a monotonic clock in milliseconds: setting the host's clock must not open the gate. */
  constructor(now = () => performance.now()) {
    this.#now = now;
  }
  /** Runs `judge` in its turn; undefined counts as a failure. Throws `too_many_attempts` without running it. */
  async run(judge) {
    this.#assertOpen();
    if (this.#waiting >= MAX_WAITING) throw tooMany("too many sign-ins at once: try again in a moment", 1);
    this.#waiting++;
    const turn = this.#last.then(() => this.#judge(judge));
    this.#last = turn.catch(() => {
    });
    try {
      return await turn;
    } finally {
      this.#waiting--;
    }
  }
  /** Forgets the failures so far. */
  clear() {
    this.#failures = [];
  }
  async #judge(judge) {
    this.#assertOpen();
    const result = await judge();
    if (result === void 0) this.#failures.push(this.#now());
    return result;
  }
  #assertOpen() {
    this.#failures = this.#failures.filter((at) => this.#now() - at < WINDOW_MS);
    const oldest = this.#failures[0];
    if (oldest === void 0 || this.#failures.length < MAX_FAILURES) return;
    const seconds = Math.ceil((WINDOW_MS - (this.#now() - oldest)) / 1e3);
    throw tooMany(
      `${MAX_FAILURES} sign-ins failed within 5 minutes: try again in ${seconds} seconds`,
      seconds
    );
  }
}
function tooMany(message, retryAfterSeconds) {
  return new AppError("too_many_attempts", message, { retryAfterSeconds });
}

const log$2 = logger("accounts");
const throttle = new Throttle();
const RESET_MARK_BYTES = 8;
let heededReset;
function accountExists() {
  return selectAccount(useDatabase()) !== void 0;
}
function viewUser() {
  const account = selectAccount(useDatabase());
  return account ? toUser(account) : null;
}
async function setUp(input, userAgent) {
  const context = useContext();
  if (accountExists()) throw alreadySetUp();
  if (!isSetupCode(context, input.code)) {
    throw new AppError(
      "invalid_credentials",
      "the setup code is wrong: take it from the link that the server printed at its start"
    );
  }
  const passwordHash = await hashPassword(input.password);
  const session = context.database.transaction(() => {
    const account = {
      id: newId("user"),
      email: input.email,
      password_hash: passwordHash,
      created_at: Date.now()
    };
    try {
      insertAccount(context.database, account);
    } catch (error) {
      throw isUniqueViolation(error) ? alreadySetUp() : error;
    }
    return openSession(context.database, userAgent);
  });
  removeSetupCode(context);
  log$2.info("the account was made");
  return session;
}
async function signIn(input, userAgent) {
  heedReset();
  const session = await throttle.run(() => judge(input, userAgent));
  if (session) return session;
  log$2.warn("a sign-in failed");
  throw new AppError("invalid_credentials", "the e-mail or the password is wrong");
}
async function changePassword(input, keptSession) {
  const database = useDatabase();
  const account = selectAccount(database);
  const correct = await verifyPassword(input.current_password, account?.password_hash);
  const passwordHash = correct ? await hashPassword(input.new_password) : void 0;
  if (!account || !passwordHash || !setPassword(database, account.password_hash, passwordHash, keptSession)) {
    throw new AppError("invalid_credentials", "current_password: is wrong");
  }
  tellCredentialsEnded();
  log$2.info("the password was changed; every other session has ended");
}
async function replacePassword(database, password) {
  const account = selectAccount(database);
  if (!account) return null;
  const passwordHash = await hashPassword(password);
  database.transaction(() => {
    setPassword(database, selectAccount(database).password_hash, passwordHash, null);
    notePasswordReset(database, randomHex(RESET_MARK_BYTES));
  });
  return account.email;
}
function heedReset() {
  const reset = selectPasswordReset(useDatabase());
  if (reset !== heededReset) throttle.clear();
  heededReset = reset;
}
async function judge(input, userAgent) {
  const database = useDatabase();
  const account = selectAccount(database);
  const known = account && account.email.toLowerCase() === input.email.toLowerCase() ? account : void 0;
  if (!await verifyPassword(input.password, known?.password_hash)) return void 0;
  return database.transaction(() => {
    if (selectAccount(database)?.password_hash !== known?.password_hash) return void 0;
    return openSession(database, userAgent);
  });
}
function setPassword(database, from, to, keptSession) {
  return database.transaction(() => {
    if (!replacePasswordHash(database, from, to)) return false;
    deleteOtherSessions(database, keptSession);
    return true;
  });
}
function alreadySetUp() {
  return new AppError(
    "conflict",
    "this server has an account already: sign in, or use deployer reset-password on its host"
  );
}

function judged(fault) {
  return z.string().superRefine((text, context) => {
    const found = fault(text);
    if (found !== null) context.addIssue(found);
  });
}
const NAME_PATTERN = /^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/;
const Name = z.string().regex(NAME_PATTERN, "must be a DNS label: 1 to 63 of a-z, 0-9 and hyphen, a letter first, no hyphen last").refine((text) => !ID_PATTERN.test(text), "must not look like an id");
function idSchema(kind) {
  const prefix = ID_PREFIXES[kind];
  return z.string().meta({ pattern: `^${prefix}-[0-9a-f]{20}$`, examples: [`${prefix}-4f1d0c9a7b3e5d2f6a80`] });
}
const Timestamp$1 = z.string().meta({ format: "date-time", examples: ["2026-01-02T03:04:05.678Z"] });
const IdOrName = z.strictObject({
  id: z.string().min(1).meta({ description: "Id or name", examples: ["api"] })
});

const MAX_NAME = 200;
const Timestamp = z.string().meta({ format: "date-time", examples: ["2026-01-02T03:04:05.678Z"] });
const INVISIBLE_FREE = /^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]*$/u;
const TokenName = text(1, MAX_NAME).regex(INVISIBLE_FREE, "must have no control or invisible characters").meta({ description: `1 to ${MAX_NAME} characters, no control or invisible ones`, examples: ["laptop"] });
const FutureTimestamp = judged((given) => {
  const moment = parseTimestamp(given);
  if (moment === null) return "must be a timestamp such as 2030-01-02T03:04:05Z";
  return moment > Date.now() ? null : "must be in the future";
}).transform((given) => parseTimestamp(given)).meta({ format: "date-time", examples: ["2030-01-02T03:04:05Z"] });
const ApiToken = z.object({
  id: z.string().meta({ examples: ["tok-0123456789abcdef0123"] }),
  name: z.string().meta({ examples: ["laptop"] }),
  hint: z.string().meta({ description: "The end of the token", examples: ["89ab"] }),
  created_at: Timestamp,
  expires_at: Timestamp.nullable().meta({
    description: "From then on it is refused; null when it never expires"
  }),
  last_used_at: Timestamp.nullable().meta({
    description: "Exact to a minute; null when it was never used"
  })
}).meta({ id: "ApiToken", description: "An API token, without its secret" });
const NewApiToken = z.strictObject({
  name: TokenName,
  expires_at: FutureTimestamp.nullish().meta({ description: "When it expires; never when absent or null" })
}).meta({ id: "NewApiToken", description: "A token to make" });
const CreatedApiToken = z.object({
  api_token: ApiToken,
  token: z.string().meta({
    description: "The token itself; it appears only in this answer",
    examples: ["dpl_0123456789abcdef0123456789abcdef01234567"]
  })
}).meta({ id: "CreatedApiToken", description: "A new API token with its secret" });
function toApiToken(row) {
  return {
    id: row.id,
    name: row.name,
    hint: row.hint,
    created_at: timestamp(row.created_at),
    expires_at: timestamp(row.expires_at),
    last_used_at: timestamp(row.last_used_at)
  };
}

const TOKEN_BYTES = 20;
function newToken() {
  return `dpl_${randomHex(TOKEN_BYTES)}`;
}

const TOKEN_FORM = {
  pattern: /^[!-~]{16,256}$/,
  wanted: "16 to 256 visible ASCII characters"
};
const WEBHOOK_SECRET_FORM = {
  pattern: /^\P{Cc}{16,256}$/u,
  wanted: "16 to 256 characters on one line"
};
const S3_SECRET_FORM = {
  pattern: /^[!-~]{1,256}$/,
  wanted: "1 to 256 visible ASCII characters"
};
const SMTP_URL_FORM = {
  pattern: /^smtps?:\/\/[!-~]+$/,
  wanted: "a URL such as smtp://user:password@mail.example.com:587"
};
function readSecret(plain, file, { pattern, wanted }) {
  const { title, value } = file.value === null ? plain : { title: file.title, value: readFile(file.title, file.value) };
  if (value === null || pattern.test(value)) return value;
  throw new AppError("invalid_request", `${title} must ${file.value === null ? "be" : "hold"} ${wanted}`);
}
function readFile(title, path) {
  try {
    return readFileSync(path, "utf8").trim();
  } catch (cause) {
    throw new AppError("invalid_request", `${title} cannot be read: ${messageOf(cause)}`, { cause });
  }
}

let serverToken;
function ensureServerToken(context) {
  serverToken = context.options.apiToken ?? readOrMake(join(context.options.dataDirectory, "api_token"));
  hide(serverToken);
  return serverToken;
}
function isServerToken(token) {
  return serverToken !== void 0 && sameSecret(token, serverToken);
}
function readOrMake(file) {
  const token = ensureSecretFile(file, newToken);
  if (TOKEN_FORM.pattern.test(token)) return token;
  throw new AppError("io_error", `${file} holds no token: remove it and start again, and a new one is made`);
}

const TOKEN = "SELECT id, name, hint, created_at, expires_at, last_used_at FROM api_tokens";
function insertToken(row, secretHash) {
  useDatabase().run(
    "INSERT INTO api_tokens (id, name, secret_hash, hint, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)",
    row.id,
    row.name,
    secretHash,
    row.hint,
    row.created_at,
    row.expires_at
  );
}
function selectTokens() {
  return useDatabase().all(`${TOKEN} ORDER BY created_at DESC, rowid DESC`);
}
function selectTokenBySecret(secretHash, now) {
  return useDatabase().get(
    `${TOKEN} WHERE secret_hash = ? AND (expires_at IS NULL OR expires_at > ?)`,
    secretHash,
    now
  );
}
function touchToken(id, lastUsedAt) {
  useDatabase().run("UPDATE api_tokens SET last_used_at = ? WHERE id = ?", lastUsedAt, id);
}
function deleteToken(id) {
  return useDatabase().run("DELETE FROM api_tokens WHERE id = ?", id) > 0;
}

const TOUCH_INTERVAL_MS = 6e4;
const log$1 = logger("tokens");
function createToken(name, expiresAt) {
  const token = newToken();
  const row = {
    id: newId("token"),
    name,
    hint: token.slice(-4),
    created_at: Date.now(),
    expires_at: expiresAt,
    last_used_at: null
  };
  insertToken(row, sha256(token));
  log$1.info("an API token was made", { token: row.id, name });
  return { api_token: toApiToken(row), token };
}
function listTokens() {
  return selectTokens().map(toApiToken);
}
function revokeToken(id) {
  if (!deleteToken(id)) throw new AppError("not_found", `there is no API token ${id}`);
  tellCredentialsEnded();
  log$1.info("an API token was revoked", { token: id });
}
function revokeUnused(id) {
  if (deleteToken(id)) log$1.info("an API token was revoked, because its terminal never took it", { token: id });
}
function verifyToken(token) {
  if (isServerToken(token)) return { id: null };
  const now = Date.now();
  const row = selectTokenBySecret(sha256(token), now);
  if (!row) return void 0;
  if (row.last_used_at === null || now - row.last_used_at >= TOUCH_INTERVAL_MS) noteUse(row.id, now);
  return { id: row.id };
}
function noteUse(id, now) {
  try {
    touchToken(id, now);
  } catch (error) {
    log$1.warn("the last use of a token could not be written", { token: id, error: messageOf(error) });
  }
}

const NOBODY = { kind: "none" };
function authenticate(event, rule) {
  if (rule === "none") return NOBODY;
  const principal = recognize(event, rule);
  if (principal.kind === "none") {
    throw new AppError(
      "unauthorized",
      "no valid credentials: send an API token as Authorization: Bearer, or sign in"
    );
  }
  if (principal.kind === "token" && rule === "session") {
    throw new AppError(
      "session_required",
      "an API token cannot do this: sign in to the dashboard and do it there"
    );
  }
  if (principal.kind === "session") assertOwnOrigin(event);
  return principal;
}
function identify(event) {
  const principal = recognize(event, "token");
  return principal.kind === "session" && isOfOtherSite(event) ? NOBODY : principal;
}
function sessionOf(principal) {
  if (principal.kind !== "session") throw new TypeError("the endpoint does not ask for a session");
  return principal.sessionId;
}
function authStatus(principal) {
  return {
    auth: principal.kind === "none" ? null : principal.kind,
    setup_required: !accountExists(),
    user: principal.kind === "none" ? null : viewUser()
  };
}
function assertOwnOrigin(event) {
  const { req } = event.node;
  if (event.method === "GET" || event.method === "HEAD") return assertOwnSite(event);
  if (isOwnOrigin(req)) return;
  const used = browserAddress(req)?.origin ?? "an unreadable address";
  const from = req.headers.origin ? `came from ${req.headers.origin}` : "does not say which page it came from";
  throw new AppError(
    "cross_site_request",
    `a change with the session cookie must come from this dashboard, ${used}, but the request ${from}; use an API token for programs, and let a proxy in front send X-Forwarded-Proto and X-Forwarded-Host`
  );
}
function assertOwnSite(event) {
  if (!isOfOtherSite(event)) return;
  throw new AppError(
    "cross_site_request",
    "a request with the session cookie must come from this dashboard: the browser says that it came from another page"
  );
}
function isOfOtherSite(event) {
  const site = event.node.req.headers["sec-fetch-site"];
  return site !== void 0 && site !== "same-origin" && site !== "none";
}
function cookieSession(event) {
  const name = cookieName(event);
  for (const pair of (event.node.req.headers.cookie ?? "").split(";")) {
    const [key, value] = pair.trim().split("=", 2);
    const session = key === name && value ? resumeSession(value) : void 0;
    if (!session) continue;
    if (session.renewed && !event.node.res.headersSent) setSessionCookie(event, value);
    return session;
  }
  return void 0;
}
function setSessionCookie(event, secret) {
  writeCookie(event, secret, SESSION_LIFETIME_MS / 1e3);
}
function clearSessionCookie(event) {
  writeCookie(event, "", 0);
}
function recognize(event, rule) {
  const given = bearerToken(event) ?? queryToken(event, rule);
  if (given !== void 0) {
    const token = verifyToken(given);
    return token ? { kind: "token", tokenId: token.id } : NOBODY;
  }
  const session = cookieSession(event);
  return session ? { kind: "session", sessionId: session.id } : NOBODY;
}
function bearerToken(event) {
  const header = event.node.req.headers.authorization ?? "";
  return /^bearer(\s|$)/i.test(header) ? header.slice("bearer".length).trim() : void 0;
}
function queryToken(event, rule) {
  if (rule !== "session" && event.method !== "GET" && event.method !== "HEAD") return void 0;
  const token = getQuery(event).access_token;
  if (token === void 0) return void 0;
  return typeof token === "string" ? token : "";
}
function cookieName(event) {
  const address = browserAddress(event.node.req);
  return `deployer_session_${address?.port || (address?.protocol === "https:" ? "443" : "80")}`;
}
function writeCookie(event, value, maxAge) {
  const secure = browserAddress(event.node.req)?.protocol === "https:";
  setCookie(event, cookieName(event), value, {
    path: "/",
    httpOnly: true,
    sameSite: "strict",
    secure,
    maxAge
  });
}

const METHODS = ["get", "post", "put", "patch", "delete"];
async function refusalOfUnmatched(event) {
  const { endpoints } = await import('../virtual/_virtual_endpoints.mjs');
  const path = event.path.split("?")[0];
  const segments = path.replace(/(.)\/$/, "$1").split("/");
  const following = endpoints.filter((endpoint) => follows(segments, endpoint.path));
  const own = following.filter((endpoint) => !endpoint.path.includes(":"));
  const matching = own.length > 0 ? own : following;
  if (matching.length === 0) {
    const { isDashboardPath } = await import('../_/pages.mjs').then(function (n) { return n.p; });
    if (isDashboardPath(path)) return otherMethod(event, path, ["get"]);
    return new AppError("not_found", `there is nothing at ${path}`);
  }
  const needsCredentials = matching.every(({ handler }) => handler.spec?.auth !== "none");
  if (needsCredentials && identify(event).kind === "none") {
    return new AppError("unauthorized", "this needs an API token: Authorization: Bearer <token>");
  }
  const allowed = METHODS.filter((method) => matching.some((endpoint) => endpoint.method === method));
  return otherMethod(event, path, allowed);
}
function otherMethod(event, path, allowed) {
  const names = allowed.flatMap((method) => method === "get" ? ["GET", "HEAD"] : [method.toUpperCase()]);
  setResponseHeader(event, "allow", names.join(", "));
  return new AppError("method_not_allowed", `${path} takes ${names.join(", ")}, not ${event.method}`);
}
function follows(given, route) {
  const wanted = route.split("/");
  return wanted.length === given.length && wanted.every(
    (segment, index) => segment.startsWith(":") ? given[index] !== "" : segment === given[index]
  );
}

const log = logger("http");
const CODE_OF_STATUS = {
  400: "invalid_request",
  413: "payload_too_large"
};
async function handleError(error, event) {
  const { req, res } = event.node;
  const path = event.path.split("?")[0];
  if (req.readableAborted && isOfClient(error.cause)) {
    log.info(`${event.method} ${path} was cut off by its client`);
    res.end();
    return;
  }
  const known = error.cause instanceof AppError ? error.cause : await refusal(error, event);
  const status = known ? ERRORS[known.code] : error.unhandled ? 500 : error.statusCode;
  const code = known?.code ?? CODE_OF_STATUS[status] ?? (status < 500 ? "invalid_request" : codeOfFault(error.cause));
  if (status === 500) {
    const cause = known?.cause ?? error.cause ?? error;
    log.error(`${event.method} ${path} failed`, {
      code,
      error: cause instanceof Error ? cause.stack : inspect(cause)
    });
  }
  if (event.handled || res.headersSent) {
    res.destroy();
    return;
  }
  const message = known?.message ?? (status < 500 ? STATUS_CODES[status] ?? "Refused" : "internal error; see the server log");
  const { retryAfterSeconds, details } = known ?? {};
  await refuse(req, res, { status, code, message, retryAfterSeconds, details });
}
function isOfClient(cause) {
  return cause instanceof AppError || cause?.code === "ECONNRESET";
}
function codeOfFault(cause) {
  const { code } = cause ?? {};
  if (code === "ERR_SQLITE_ERROR") return "database_error";
  return typeof code === "string" && /^E[A-Z]+$/.test(code) ? "io_error" : "internal_error";
}
async function refusal(error, event) {
  const isUnmatched = !error.unhandled && (error.statusCode === 404 || error.statusCode === 405);
  return isUnmatched ? refusalOfUnmatched(event) : void 0;
}

function defineNitroErrorHandler(handler) {
  return handler;
}

const errorHandler$1 = defineNitroErrorHandler(
  function defaultNitroErrorHandler(error, event) {
    const res = defaultHandler(error, event);
    setResponseHeaders(event, res.headers);
    setResponseStatus(event, res.status, res.statusText);
    return send(event, JSON.stringify(res.body, null, 2));
  }
);
function defaultHandler(error, event, opts) {
  const isSensitive = error.unhandled || error.fatal;
  const statusCode = error.statusCode || 500;
  const statusMessage = error.statusMessage || "Server Error";
  const url = getRequestURL(event, { xForwardedHost: true, xForwardedProto: true });
  if (statusCode === 404) {
    const baseURL = "/";
    if (/^\/[^/]/.test(baseURL) && !url.pathname.startsWith(baseURL)) {
      const redirectTo = `${baseURL}${url.pathname.slice(1)}${url.search}`;
      return {
        status: 302,
        statusText: "Found",
        headers: { location: redirectTo },
        body: `Redirecting...`
      };
    }
  }
  if (isSensitive && !opts?.silent) {
    const tags = [error.unhandled && "[unhandled]", error.fatal && "[fatal]"].filter(Boolean).join(" ");
    console.error(`[request error] ${tags} [${event.method}] ${url}
`, error);
  }
  const headers = {
    "content-type": "application/json",
    // Prevent browser from guessing the MIME types of resources.
    "x-content-type-options": "nosniff",
    // Prevent error page from being embedded in an iframe
    "x-frame-options": "DENY",
    // Prevent browsers from sending the Referer header
    "referrer-policy": "no-referrer",
    // Disable the execution of any js
    "content-security-policy": "script-src 'none'; frame-ancestors 'none';"
  };
  setResponseStatus(event, statusCode, statusMessage);
  if (statusCode === 404 || !getResponseHeader(event, "cache-control")) {
    headers["cache-control"] = "no-cache";
  }
  const body = {
    error: true,
    url: url.href,
    statusCode,
    statusMessage,
    message: isSensitive ? "Server Error" : error.message,
    data: isSensitive ? void 0 : error.data
  };
  return {
    status: statusCode,
    statusText: statusMessage,
    headers,
    body
  };
}

const errorHandlers = [handleError, errorHandler$1];

async function errorHandler(error, event) {
  for (const handler of errorHandlers) {
    try {
      await handler(error, event, { defaultHandler });
      if (event.handled) {
        return; // Response handled
      }
    } catch(error) {
      // Handler itself thrown, log and continue
      console.error(error);
    }
  }
  // H3 will handle fallback
}

const plugins = [
  
];

const _lazy_3kdmuo = () => import('../routes/_...path_.get.mjs');
const _lazy_mMJ9wM = () => import('../routes/api/blueprint.schema.json.get.mjs');
const _lazy_VNqjoE = () => import('../routes/api/docs/_file_.get.mjs');
const _lazy_fYCo8v = () => import('../routes/api/index.get.mjs');
const _lazy_7DWveU = () => import('../routes/api/openapi.json.get.mjs');
const _lazy_ktospM = () => import('../routes/api/v1/auth/cli/_id/approve.post.mjs');
const _lazy_iDDe8o = () => import('../routes/api/v1/auth/cli/_id/deny.post.mjs');
const _lazy_GtaPin = () => import('../routes/api/v1/auth/cli/index.get.mjs');
const _lazy_jelM1z = () => import('../routes/api/v1/auth/cli/_id/token.post.mjs');
const _lazy_WNRTP3 = () => import('../routes/api/v1/auth/index.post.mjs');
const _lazy_ogOvJe = () => import('../routes/api/v1/auth/login.post.mjs');
const _lazy_K3hlHh = () => import('../routes/api/v1/auth/logout.post.mjs');
const _lazy_2MMMw9 = () => import('../routes/api/v1/auth/password.post.mjs');
const _lazy_wL4LZ_ = () => import('../routes/api/v1/auth/sessions/_id_.delete.mjs');
const _lazy_YCeUvO = () => import('../routes/api/v1/auth/index.get.mjs');
const _lazy_yj4xDy = () => import('../routes/api/v1/auth/setup.post.mjs');
const _lazy_dbChFA = () => import('../routes/api/v1/auth/status.get.mjs');
const _lazy_OB7uzS = () => import('../routes/api/v1/auth/tokens/_id_.delete.mjs');
const _lazy_yOwzPL = () => import('../routes/api/v1/auth/index2.get.mjs');
const _lazy_4yW7yc = () => import('../routes/api/v1/auth/index2.post.mjs');
const _lazy_MyfHbO = () => import('../routes/api/v1/blueprints/index.delete.mjs');
const _lazy_EGzyGu = () => import('../routes/api/v1/blueprints/index.get.mjs');
const _lazy_2KwAxk = () => import('../routes/api/v1/blueprints/index.patch.mjs');
const _lazy_PEStEp = () => import('../routes/api/v1/blueprints/_id/sync.post.mjs');
const _lazy_1UlZRe = () => import('../routes/api/v1/blueprints/apply.post.mjs');
const _lazy_5oPk90 = () => import('../routes/api/v1/blueprints/convert.post.mjs');
const _lazy_U8GZbH = () => import('../routes/api/v1/blueprints/export.get.mjs');
const _lazy_pTfKGL = () => import('../routes/api/v1/blueprints/file.get.mjs');
const _lazy_1gC8E4 = () => import('../routes/api/v1/index.get.mjs');
const _lazy_Yily6H = () => import('../routes/api/v1/index.post.mjs');
const _lazy_BIJ0FB = () => import('../routes/api/v1/index2.get.mjs');
const _lazy_V8zw7M = () => import('../routes/api/v1/certificates/uploaded/_id_.delete.mjs');
const _lazy_Gxcw6z = () => import('../routes/api/v1/certificates/index.get.mjs');
const _lazy_yyRLMh = () => import('../routes/api/v1/certificates/index.post.mjs');
const _lazy_FgwXsS = () => import('../routes/api/v1/datastores/_id/backups/_backup_id/download.get.mjs');
const _lazy_VpR6e7 = () => import('../routes/api/v1/datastores/_id/backups/index.delete.mjs');
const _lazy_lmPuV6 = () => import('../routes/api/v1/datastores/_id/backups/index.get.mjs');
const _lazy_t3quzI = () => import('../routes/api/v1/datastores/_id/backups/_backup_id/restore.post.mjs');
const _lazy_WKjPa8 = () => import('../routes/api/v1/datastores/_id/index.get.mjs');
const _lazy_3VRjIq = () => import('../routes/api/v1/datastores/_id/index.post.mjs');
const _lazy_6gDVrx = () => import('../routes/api/v1/datastores/index.delete.mjs');
const _lazy_Z8Cgdg = () => import('../routes/api/v1/datastores/index.get.mjs');
const _lazy_7JnvNA = () => import('../routes/api/v1/datastores/index.patch.mjs');
const _lazy_gH_9Sl = () => import('../routes/api/v1/datastores/_id/logs.get.mjs');
const _lazy_5WoVK1 = () => import('../routes/api/v1/datastores/_id/references.get.mjs');
const _lazy_u3jWLW = () => import('../routes/api/v1/datastores/_id/upgrade.post.mjs');
const _lazy_0O_vHl = () => import('../routes/api/v1/index3.get.mjs');
const _lazy_Zz4wTT = () => import('../routes/api/v1/index2.post.mjs');
const _lazy_2dXhVK = () => import('../routes/api/v1/deploys/_deploy_id/cancel.post.mjs');
const _lazy_vTrgUA = () => import('../routes/api/v1/deploys/index.get.mjs');
const _lazy_AiSB_p = () => import('../routes/api/v1/deploys/_deploy_id/logs.get.mjs');
const _lazy_FgoN6d = () => import('../routes/api/v1/detect.post.mjs');
const _lazy_5Nq5I6 = () => import('../routes/api/v1/domains/index.delete.mjs');
const _lazy_bHofAp = () => import('../routes/api/v1/domains/index.get.mjs');
const _lazy_UBfk1d = () => import('../routes/api/v1/domains/index.patch.mjs');
const _lazy_bRlRF5 = () => import('../routes/api/v1/domains/_id/verify.post.mjs');
const _lazy_uCekax = () => import('../routes/api/v1/index4.get.mjs');
const _lazy__fFpti = () => import('../routes/api/v1/index3.post.mjs');
const _lazy_ItHEGU = () => import('../routes/api/v1/env-groups/_id/index.patch.mjs');
const _lazy_dYWB3_ = () => import('../routes/api/v1/env-groups/_id/index.put.mjs');
const _lazy_Xz4JqF = () => import('../routes/api/v1/env-groups/index.delete.mjs');
const _lazy_Fj8NHp = () => import('../routes/api/v1/env-groups/index.get.mjs');
const _lazy_vc8dSZ = () => import('../routes/api/v1/index5.get.mjs');
const _lazy_tEvZXr = () => import('../routes/api/v1/index4.post.mjs');
const _lazy_oIBcg2 = () => import('../routes/api/v1/environments/index.delete.mjs');
const _lazy_fmYaiP = () => import('../routes/api/v1/environments/index.get.mjs');
const _lazy_1j4G9S = () => import('../routes/api/v1/environments/_id/verify.post.mjs');
const _lazy_QbS5Lj = () => import('../routes/api/v1/index6.get.mjs');
const _lazy_Ntsva1 = () => import('../routes/api/v1/index5.post.mjs');
const _lazy_QlDWCX = () => import('../routes/api/v1/events.get.mjs');
const _lazy_SENEXN = () => import('../routes/api/v1/git/authorize.post.mjs');
const _lazy_IRBi65 = () => import('../routes/api/v1/git/branches.get.mjs');
const _lazy_tv6tbi = () => import('../routes/api/v1/git/callback.post.mjs');
const _lazy_K_qkbF = () => import('../routes/api/v1/git/connections/index.delete.mjs');
const _lazy_5ymxM9 = () => import('../routes/api/v1/git/connections/index.get.mjs');
const _lazy_Kd4J8t = () => import('../routes/api/v1/git/connections/_id/repositories.get.mjs');
const _lazy_SEmdYW = () => import('../routes/api/v1/git/index.get.mjs');
const _lazy_UslYCk = () => import('../routes/api/v1/git/index.post.mjs');
const _lazy_f9QvlV = () => import('../routes/api/v1/git/deliveries.get.mjs');
const _lazy_C18pys = () => import('../routes/api/v1/git/ssh-key.get.mjs');
const _lazy_0eomld = () => import('../routes/api/v1/info.get.mjs');
const _lazy_8E12vK = () => import('../routes/api/v1/jobs/_job_id/cancel.post.mjs');
const _lazy_R308eV = () => import('../routes/api/v1/jobs/index.get.mjs');
const _lazy_KhDrcb = () => import('../routes/api/v1/jobs/_job_id/logs.get.mjs');
const _lazy_IgrR34 = () => import('../routes/api/v1/log-drains/_id/deliveries.get.mjs');
const _lazy_trd6xE = () => import('../routes/api/v1/log-drains/index.delete.mjs');
const _lazy_VyNumD = () => import('../routes/api/v1/log-drains/index.get.mjs');
const _lazy_zuOXN5 = () => import('../routes/api/v1/log-drains/index.patch.mjs');
const _lazy_Pnpwjy = () => import('../routes/api/v1/log-drains/_id/test.post.mjs');
const _lazy_5UZHcp = () => import('../routes/api/v1/index7.get.mjs');
const _lazy_irrxJc = () => import('../routes/api/v1/index6.post.mjs');
const _lazy_TrEa2n = () => import('../routes/api/v1/notifications/_id/deliveries.get.mjs');
const _lazy_YQEhOA = () => import('../routes/api/v1/notifications/index.delete.mjs');
const _lazy_h9UVaY = () => import('../routes/api/v1/notifications/index.get.mjs');
const _lazy__o_xtw = () => import('../routes/api/v1/notifications/index.patch.mjs');
const _lazy_9DTQUR = () => import('../routes/api/v1/notifications/_id/test.post.mjs');
const _lazy_Ct8TTO = () => import('../routes/api/v1/index8.get.mjs');
const _lazy_hpQzXc = () => import('../routes/api/v1/index7.post.mjs');
const _lazy_wX2Z7v = () => import('../routes/api/v1/server/logs.get.mjs');
const _lazy_xaiEld = () => import('../routes/api/v1/server/metrics/history.get.mjs');
const _lazy_AD8dNd = () => import('../routes/api/v1/server/index.get.mjs');
const _lazy_9nwZmp = () => import('../routes/api/v1/services/_id/deploy-hook/rotate.post.mjs');
const _lazy_AmuSTs = () => import('../routes/api/v1/services/_id/index.get.mjs');
const _lazy_OYjvwv = () => import('../routes/api/v1/services/_id/index.post.mjs');
const _lazy_QD98X6 = () => import('../routes/api/v1/services/_id/deploys/upload.post.mjs');
const _lazy_s2huwu = () => import('../routes/api/v1/services/_id/domains/_domain_.delete.mjs');
const _lazy_UTAPjA = () => import('../routes/api/v1/services/_id/domains/_domain/verify.post.mjs');
const _lazy_U5I4Ld = () => import('../routes/api/v1/services/_id/index2.get.mjs');
const _lazy_CM3Y71 = () => import('../routes/api/v1/services/_id/index2.post.mjs');
const _lazy_SxZBXj = () => import('../routes/api/v1/services/_id/env-groups/_group_.delete.mjs');
const _lazy_WlRt18 = () => import('../routes/api/v1/services/_id/index3.post.mjs');
const _lazy_6OmmX6 = () => import('../routes/api/v1/services/_id/index3.get.mjs');
const _lazy_G6MaI0 = () => import('../routes/api/v1/services/_id/index.patch.mjs');
const _lazy_ZkYHOW = () => import('../routes/api/v1/services/_id/index.put.mjs');
const _lazy_zggMnA = () => import('../routes/api/v1/services/index.delete.mjs');
const _lazy_XIEa2X = () => import('../routes/api/v1/services/index.get.mjs');
const _lazy_dQFYlw = () => import('../routes/api/v1/services/index.patch.mjs');
const _lazy_hpnanT = () => import('../routes/api/v1/services/_id/index4.get.mjs');
const _lazy_fdcYHl = () => import('../routes/api/v1/services/_id/index4.post.mjs');
const _lazy_TMyGHT = () => import('../routes/api/v1/services/_id/logs.get.mjs');
const _lazy_dybaNj = () => import('../routes/api/v1/services/_id/metrics.get.mjs');
const _lazy_aCj4Yw = () => import('../routes/api/v1/services/_id/restart.post.mjs');
const _lazy_2c8i6N = () => import('../routes/api/v1/services/_id/resume.post.mjs');
const _lazy_P6QAfq = () => import('../routes/api/v1/services/_id/rollback.post.mjs');
const _lazy_kjb5WX = () => import('../routes/api/v1/services/_id/scale.post.mjs');
const _lazy_HcZJze = () => import('../routes/api/v1/services/_id/status.get.mjs');
const _lazy_DQFW6s = () => import('../routes/api/v1/services/_id/suspend.post.mjs');
const _lazy_EPJS0N = () => import('../routes/api/v1/index9.get.mjs');
const _lazy_hIVFuv = () => import('../routes/api/v1/index8.post.mjs');
const _lazy_qXvL7c = () => import('../routes/assets/_...file_.get.mjs');
const _lazy_J1HE2y = () => import('../routes/healthz.get.mjs');
const _lazy_9MUJS3 = () => import('../routes/hooks/deploy/_service_id_.get.mjs');
const _lazy_tLoach = () => import('../routes/hooks/deploy/_service_id_.post.mjs');
const _lazy_AshfmT = () => import('../routes/hooks/gitprov.post.mjs');
const _lazy_HR5OzS = () => import('../routes/metrics.get.mjs');

const handlers = [
  { route: '/**:path', handler: _lazy_3kdmuo, lazy: true, middleware: false, method: "get" },
  { route: '/api/blueprint.schema.json', handler: _lazy_mMJ9wM, lazy: true, middleware: false, method: "get" },
  { route: '/api/docs/:file', handler: _lazy_VNqjoE, lazy: true, middleware: false, method: "get" },
  { route: '/api/docs', handler: _lazy_fYCo8v, lazy: true, middleware: false, method: "get" },
  { route: '/api/openapi.json', handler: _lazy_7DWveU, lazy: true, middleware: false, method: "get" },
  { route: '/api/v1/auth/cli/:id/approve', handler: _lazy_ktospM, lazy: true, middleware: false, method: "post" },
  { route: '/api/v1/auth/cli/:id/deny', handler: _lazy_iDDe8o, lazy: true, middleware: false, method: "post" },
  { route: '/api/v1/auth/cli/:id', handler: _lazy_GtaPin, lazy: true, middleware: false, method: "get" },
  { route: '/api/v1/auth/cli/:id/token', handler: _lazy_jelM1z, lazy: true, middleware: false, method: "post" },
  { route: '/api/v1/auth/cli', handler: _lazy_WNRTP3, lazy: true, middleware: false, method: "post" },
  { route: '/api/v1/auth/login', handler: _lazy_ogOvJe, lazy: true, middleware: false, method: "post" },
  { route: '/api/v1/auth/logout', handler: _lazy_K3hlHh, lazy: true, middleware: false, method: "post" },
  { route: '/api/v1/auth/password', handler: _lazy_2MMMw9, lazy: true, middleware: false, method: "post" },
  { route: '/api/v1/auth/sessions/:id', handler: _lazy_wL4LZ_, lazy: true, middleware: false, method: "delete" },
  { route: '/api/v1/auth/sessions', handler: _lazy_YCeUvO, lazy: true, middleware: false, method: "get" },
  { route: '/api/v1/auth/setup', handler: _lazy_yj4xDy, lazy: true, middleware: false, method: "post" },
  { route: '/api/v1/auth/status', handler: _lazy_dbChFA, lazy: true, middleware: false, method: "get" },
  { route: '/api/v1/auth/tokens/:id', handler: _lazy_OB7uzS, lazy: true, middleware: false, method: "delete" },
  { route: '/api/v1/auth/tokens', handler: _lazy_yOwzPL, lazy: true, middleware: false, method: "get" },
  { route: '/api/v1/auth/tokens', handler: _lazy_4yW7yc, lazy: true, middleware: false, method: "post" },
  { route: '/api/v1/blueprints/:id', handler: _lazy_MyfHbO, lazy: true, middleware: false, method: "delete" },
  { route: '/api/v1/blueprints/:id', handler: _lazy_EGzyGu, lazy: true, middleware: false, method: "get" },
  { route: '/api/v1/blueprints/:id', handler: _lazy_2KwAxk, lazy: true, middleware: false, method: "patch" },
  { route: '/api/v1/blueprints/:id/sync', handler: _lazy_PEStEp, lazy: true, middleware: false, method: "post" },
  { route: '/api/v1/blueprints/apply', handler: _lazy_1UlZRe, lazy: true, middleware: false, method: "post" },
  { route: '/api/v1/blueprints/convert', handler: _lazy_5oPk90, lazy: true, middleware: false, method: "post" },
  { route: '/api/v1/blueprints/export', handler: _lazy_U8GZbH, lazy: true, middleware: false, method: "get" },
  { route: '/api/v1/blueprints/file', handler: _lazy_pTfKGL, lazy: true, middleware: false, method: "get" },
  { route: '/api/v1/blueprints', handler: _lazy_1gC8E4, lazy: true, middleware: false, method: "get" },
  { route: '/api/v1/blueprints', handler: _lazy_Yily6H, lazy: true, middleware: false, method: "post" },
  { route: '/api/v1/certificates', handler: _lazy_BIJ0FB, lazy: true, middleware: false, method: "get" },
  { route: '/api/v1/certificates/uploaded/:id', handler: _lazy_V8zw7M, lazy: true, middleware: false, method: "delete" },
  { route: '/api/v1/certificates/uploaded', handler: _lazy_Gxcw6z, lazy: true, middleware: false, method: "get" },
  { route: '/api/v1/certificates/uploaded', handler: _lazy_yyRLMh, lazy: true, middleware: false, method: "post" },
  { route: '/api/v1/datastores/:id/backups/:backup_id/download', handler: _lazy_FgwXsS, lazy: true, middleware: false, method: "get" },
  { route: '/api/v1/datastores/:id/backups/:backup_id', handler: _lazy_VpR6e7, lazy: true, middleware: false, method: "delete" },
  { route: '/api/v1/datastores/:id/backups/:backup_id', handler: _lazy_lmPuV6, lazy: true, middleware: false, method: "get" },
  { route: '/api/v1/datastores/:id/backups/:backup_id/restore', handler: _lazy_t3quzI, lazy: true, middleware: false, method: "post" },
  { route: '/api/v1/datastores/:id/backups', handler: _lazy_WKjPa8, lazy: true, middleware: false, method: "get" },
  { route: '/api/v1/datastores/:id/backups', handler: _lazy_3VRjIq, lazy: true, middleware: false, method: "post" },
  { route: '/api/v1/datastores/:id', handler: _lazy_6gDVrx, lazy: true, middleware: false, method: "delete" },
  { route: '/api/v1/datastores/:id', handler: _lazy_Z8Cgdg, lazy: true, middleware: false, method: "get" },
  { route: '/api/v1/datastores/:id', handler: _lazy_7JnvNA, lazy: true, middleware: false, method: "patch" },
  { route: '/api/v1/datastores/:id/logs', handler: _lazy_gH_9Sl, lazy: true, middleware: false, method: "get" },
  { route: '/api/v1/datastores/:id/references', handler: _lazy_5WoVK1, lazy: true, middleware: false, method: "get" },
  { route: '/api/v1/datastores/:id/upgrade', handler: _lazy_u3jWLW, lazy: true, middleware: false, method: "post" },
  { route: '/api/v1/datastores', handler: _lazy_0O_vHl, lazy: true, middleware: false, method: "get" },
  { route: '/api/v1/datastores', handler: _lazy_Zz4wTT, lazy: true, middleware: false, method: "post" },
  { route: '/api/v1/deploys/:deploy_id/cancel', handler: _lazy_2dXhVK, lazy: true, middleware: false, method: "post" },
  { route: '/api/v1/deploys/:deploy_id', handler: _lazy_vTrgUA, lazy: true, middleware: false, method: "get" },
  { route: '/api/v1/deploys/:deploy_id/logs', handler: _lazy_AiSB_p, lazy: true, middleware: false, method: "get" },
  { route: '/api/v1/detect', handler: _lazy_FgoN6d, lazy: true, middleware: false, method: "post" },
  { route: '/api/v1/domains/:id', handler: _lazy_5Nq5I6, lazy: true, middleware: false, method: "delete" },
  { route: '/api/v1/domains/:id', handler: _lazy_bHofAp, lazy: true, middleware: false, method: "get" },
  { route: '/api/v1/domains/:id', handler: _lazy_UBfk1d, lazy: true, middleware: false, method: "patch" },
  { route: '/api/v1/domains/:id/verify', handler: _lazy_bRlRF5, lazy: true, middleware: false, method: "post" },
  { route: '/api/v1/domains', handler: _lazy_uCekax, lazy: true, middleware: false, method: "get" },
  { route: '/api/v1/domains', handler: _lazy__fFpti, lazy: true, middleware: false, method: "post" },
  { route: '/api/v1/env-groups/:id/env', handler: _lazy_ItHEGU, lazy: true, middleware: false, method: "patch" },
  { route: '/api/v1/env-groups/:id/env', handler: _lazy_dYWB3_, lazy: true, middleware: false, method: "put" },
  { route: '/api/v1/env-groups/:id', handler: _lazy_Xz4JqF, lazy: true, middleware: false, method: "delete" },
  { route: '/api/v1/env-groups/:id', handler: _lazy_Fj8NHp, lazy: true, middleware: false, method: "get" },
  { route: '/api/v1/env-groups', handler: _lazy_vc8dSZ, lazy: true, middleware: false, method: "get" },
  { route: '/api/v1/env-groups', handler: _lazy_tEvZXr, lazy: true, middleware: false, method: "post" },
  { route: '/api/v1/environments/:id', handler: _lazy_oIBcg2, lazy: true, middleware: false, method: "delete" },
  { route: '/api/v1/environments/:id', handler: _lazy_fmYaiP, lazy: true, middleware: false, method: "get" },
  { route: '/api/v1/environments/:id/verify', handler: _lazy_1j4G9S, lazy: true, middleware: false, method: "post" },
  { route: '/api/v1/environments', handler: _lazy_QbS5Lj, lazy: true, middleware: false, method: "get" },
  { route: '/api/v1/environments', handler: _lazy_Ntsva1, lazy: true, middleware: false, method: "post" },
  { route: '/api/v1/events', handler: _lazy_QlDWCX, lazy: true, middleware: false, method: "get" },
  { route: '/api/v1/git/authorize', handler: _lazy_SENEXN, lazy: true, middleware: false, method: "post" },
  { route: '/api/v1/git/branches', handler: _lazy_IRBi65, lazy: true, middleware: false, method: "get" },
  { route: '/api/v1/git/callback', handler: _lazy_tv6tbi, lazy: true, middleware: false, method: "post" },
  { route: '/api/v1/git/connections/:id', handler: _lazy_K_qkbF, lazy: true, middleware: false, method: "delete" },
  { route: '/api/v1/git/connections/:id', handler: _lazy_5ymxM9, lazy: true, middleware: false, method: "get" },
  { route: '/api/v1/git/connections/:id/repositories', handler: _lazy_Kd4J8t, lazy: true, middleware: false, method: "get" },
  { route: '/api/v1/git/connections', handler: _lazy_SEmdYW, lazy: true, middleware: false, method: "get" },
  { route: '/api/v1/git/connections', handler: _lazy_UslYCk, lazy: true, middleware: false, method: "post" },
  { route: '/api/v1/git/deliveries', handler: _lazy_f9QvlV, lazy: true, middleware: false, method: "get" },
  { route: '/api/v1/git/ssh-key', handler: _lazy_C18pys, lazy: true, middleware: false, method: "get" },
  { route: '/api/v1/info', handler: _lazy_0eomld, lazy: true, middleware: false, method: "get" },
  { route: '/api/v1/jobs/:job_id/cancel', handler: _lazy_8E12vK, lazy: true, middleware: false, method: "post" },
  { route: '/api/v1/jobs/:job_id', handler: _lazy_R308eV, lazy: true, middleware: false, method: "get" },
  { route: '/api/v1/jobs/:job_id/logs', handler: _lazy_KhDrcb, lazy: true, middleware: false, method: "get" },
  { route: '/api/v1/log-drains/:id/deliveries', handler: _lazy_IgrR34, lazy: true, middleware: false, method: "get" },
  { route: '/api/v1/log-drains/:id', handler: _lazy_trd6xE, lazy: true, middleware: false, method: "delete" },
  { route: '/api/v1/log-drains/:id', handler: _lazy_VyNumD, lazy: true, middleware: false, method: "get" },
  { route: '/api/v1/log-drains/:id', handler: _lazy_zuOXN5, lazy: true, middleware: false, method: "patch" },
  { route: '/api/v1/log-drains/:id/test', handler: _lazy_Pnpwjy, lazy: true, middleware: false, method: "post" },
  { route: '/api/v1/log-drains', handler: _lazy_5UZHcp, lazy: true, middleware: false, method: "get" },
  { route: '/api/v1/log-drains', handler: _lazy_irrxJc, lazy: true, middleware: false, method: "post" },
  { route: '/api/v1/notifications/:id/deliveries', handler: _lazy_TrEa2n, lazy: true, middleware: false, method: "get" },
  { route: '/api/v1/notifications/:id', handler: _lazy_YQEhOA, lazy: true, middleware: false, method: "delete" },
  { route: '/api/v1/notifications/:id', handler: _lazy_h9UVaY, lazy: true, middleware: false, method: "get" },
  { route: '/api/v1/notifications/:id', handler: _lazy__o_xtw, lazy: true, middleware: false, method: "patch" },
  { route: '/api/v1/notifications/:id/test', handler: _lazy_9DTQUR, lazy: true, middleware: false, method: "post" },
  { route: '/api/v1/notifications', handler: _lazy_Ct8TTO, lazy: true, middleware: false, method: "get" },
  { route: '/api/v1/notifications', handler: _lazy_hpQzXc, lazy: true, middleware: false, method: "post" },
  { route: '/api/v1/server/logs', handler: _lazy_wX2Z7v, lazy: true, middleware: false, method: "get" },
  { route: '/api/v1/server/metrics/history', handler: _lazy_xaiEld, lazy: true, middleware: false, method: "get" },
  { route: '/api/v1/server/metrics', handler: _lazy_AD8dNd, lazy: true, middleware: false, method: "get" },
  { route: '/api/v1/services/:id/deploy-hook/rotate', handler: _lazy_9nwZmp, lazy: true, middleware: false, method: "post" },
  { route: '/api/v1/services/:id/deploys', handler: _lazy_AmuSTs, lazy: true, middleware: false, method: "get" },
  { route: '/api/v1/services/:id/deploys', handler: _lazy_OYjvwv, lazy: true, middleware: false, method: "post" },
  { route: '/api/v1/services/:id/deploys/upload', handler: _lazy_QD98X6, lazy: true, middleware: false, method: "post" },
  { route: '/api/v1/services/:id/domains/:domain', handler: _lazy_s2huwu, lazy: true, middleware: false, method: "delete" },
  { route: '/api/v1/services/:id/domains/:domain/verify', handler: _lazy_UTAPjA, lazy: true, middleware: false, method: "post" },
  { route: '/api/v1/services/:id/domains', handler: _lazy_U5I4Ld, lazy: true, middleware: false, method: "get" },
  { route: '/api/v1/services/:id/domains', handler: _lazy_CM3Y71, lazy: true, middleware: false, method: "post" },
  { route: '/api/v1/services/:id/env-groups/:group', handler: _lazy_SxZBXj, lazy: true, middleware: false, method: "delete" },
  { route: '/api/v1/services/:id/env-groups', handler: _lazy_WlRt18, lazy: true, middleware: false, method: "post" },
  { route: '/api/v1/services/:id/env', handler: _lazy_6OmmX6, lazy: true, middleware: false, method: "get" },
  { route: '/api/v1/services/:id/env', handler: _lazy_G6MaI0, lazy: true, middleware: false, method: "patch" },
  { route: '/api/v1/services/:id/env', handler: _lazy_ZkYHOW, lazy: true, middleware: false, method: "put" },
  { route: '/api/v1/services/:id', handler: _lazy_zggMnA, lazy: true, middleware: false, method: "delete" },
  { route: '/api/v1/services/:id', handler: _lazy_XIEa2X, lazy: true, middleware: false, method: "get" },
  { route: '/api/v1/services/:id', handler: _lazy_dQFYlw, lazy: true, middleware: false, method: "patch" },
  { route: '/api/v1/services/:id/jobs', handler: _lazy_hpnanT, lazy: true, middleware: false, method: "get" },
  { route: '/api/v1/services/:id/jobs', handler: _lazy_fdcYHl, lazy: true, middleware: false, method: "post" },
  { route: '/api/v1/services/:id/logs', handler: _lazy_TMyGHT, lazy: true, middleware: false, method: "get" },
  { route: '/api/v1/services/:id/metrics', handler: _lazy_dybaNj, lazy: true, middleware: false, method: "get" },
  { route: '/api/v1/services/:id/restart', handler: _lazy_aCj4Yw, lazy: true, middleware: false, method: "post" },
  { route: '/api/v1/services/:id/resume', handler: _lazy_2c8i6N, lazy: true, middleware: false, method: "post" },
  { route: '/api/v1/services/:id/rollback', handler: _lazy_P6QAfq, lazy: true, middleware: false, method: "post" },
  { route: '/api/v1/services/:id/scale', handler: _lazy_kjb5WX, lazy: true, middleware: false, method: "post" },
  { route: '/api/v1/services/:id/status', handler: _lazy_HcZJze, lazy: true, middleware: false, method: "get" },
  { route: '/api/v1/services/:id/suspend', handler: _lazy_DQFW6s, lazy: true, middleware: false, method: "post" },
  { route: '/api/v1/services', handler: _lazy_EPJS0N, lazy: true, middleware: false, method: "get" },
  { route: '/api/v1/services', handler: _lazy_hIVFuv, lazy: true, middleware: false, method: "post" },
  { route: '/assets/**:file', handler: _lazy_qXvL7c, lazy: true, middleware: false, method: "get" },
  { route: '/healthz', handler: _lazy_J1HE2y, lazy: true, middleware: false, method: "get" },
  { route: '/hooks/deploy/:service_id', handler: _lazy_9MUJS3, lazy: true, middleware: false, method: "get" },
  { route: '/hooks/deploy/:service_id', handler: _lazy_tLoach, lazy: true, middleware: false, method: "post" },
  { route: '/hooks/gitprov', handler: _lazy_AshfmT, lazy: true, middleware: false, method: "post" },
  { route: '/metrics', handler: _lazy_HR5OzS, lazy: true, middleware: false, method: "get" }
];

function createNitroApp() {
  const config = useRuntimeConfig();
  const hooks = createHooks();
  const captureError = (error, context = {}) => {
    const promise = hooks.callHookParallel("error", error, context).catch((error_) => {
      console.error("Error while capturing another error", error_);
    });
    if (context.event && isEvent(context.event)) {
      const errors = context.event.context.nitro?.errors;
      if (errors) {
        errors.push({ error, context });
      }
      if (context.event.waitUntil) {
        context.event.waitUntil(promise);
      }
    }
  };
  const h3App = createApp({
    debug: destr(false),
    onError: (error, event) => {
      captureError(error, { event, tags: ["request"] });
      return errorHandler(error, event);
    },
    onRequest: async (event) => {
      event.context.nitro = event.context.nitro || { errors: [] };
      const fetchContext = event.node.req?.__unenv__;
      if (fetchContext?._platform) {
        event.context = {
          _platform: fetchContext?._platform,
          // #3335
          ...fetchContext._platform,
          ...event.context
        };
      }
      if (!event.context.waitUntil && fetchContext?.waitUntil) {
        event.context.waitUntil = fetchContext.waitUntil;
      }
      event.fetch = (req, init) => fetchWithEvent(event, req, init, { fetch: localFetch });
      event.$fetch = (req, init) => fetchWithEvent(event, req, init, {
        fetch: $fetch
      });
      event.waitUntil = (promise) => {
        if (!event.context.nitro._waitUntilPromises) {
          event.context.nitro._waitUntilPromises = [];
        }
        event.context.nitro._waitUntilPromises.push(promise);
        if (event.context.waitUntil) {
          event.context.waitUntil(promise);
        }
      };
      event.captureError = (error, context) => {
        captureError(error, { event, ...context });
      };
      await nitroApp.hooks.callHook("request", event).catch((error) => {
        captureError(error, { event, tags: ["request"] });
      });
    },
    onBeforeResponse: async (event, response) => {
      await nitroApp.hooks.callHook("beforeResponse", event, response).catch((error) => {
        captureError(error, { event, tags: ["request", "response"] });
      });
    },
    onAfterResponse: async (event, response) => {
      await nitroApp.hooks.callHook("afterResponse", event, response).catch((error) => {
        captureError(error, { event, tags: ["request", "response"] });
      });
    }
  });
  const router = createRouter({
    preemptive: true
  });
  const nodeHandler = toNodeListener(h3App);
  const localCall = (aRequest) => b(
    nodeHandler,
    aRequest
  );
  const localFetch = (input, init) => {
    if (!input.toString().startsWith("/")) {
      return globalThis.fetch(input, init);
    }
    return C(
      nodeHandler,
      input,
      init
    ).then((response) => normalizeFetchResponse(response));
  };
  const $fetch = createFetch({
    fetch: localFetch,
    Headers: Headers$1,
    defaults: { baseURL: config.app.baseURL }
  });
  globalThis.$fetch = $fetch;
  h3App.use(createRouteRulesHandler({ localFetch }));
  for (const h of handlers) {
    let handler = h.lazy ? lazyEventHandler(h.handler) : h.handler;
    if (h.middleware || !h.route) {
      const middlewareBase = (config.app.baseURL + (h.route || "/")).replace(
        /\/+/g,
        "/"
      );
      h3App.use(middlewareBase, handler);
    } else {
      const routeRules = getRouteRulesForPath(
        h.route.replace(/:\w+|\*\*/g, "_")
      );
      if (routeRules.cache) {
        handler = cachedEventHandler(handler, {
          group: "nitro/routes",
          ...routeRules.cache
        });
      }
      router.use(h.route, handler, h.method);
    }
  }
  h3App.use(config.app.baseURL, router.handler);
  const app = {
    hooks,
    h3App,
    router,
    localCall,
    localFetch,
    captureError
  };
  return app;
}
function runNitroPlugins(nitroApp2) {
  for (const plugin of plugins) {
    try {
      plugin(nitroApp2);
    } catch (error) {
      nitroApp2.captureError(error, { tags: ["plugin"] });
      throw error;
    }
  }
}
const nitroApp = createNitroApp();
function useNitroApp() {
  return nitroApp;
}
runNitroPlugins(nitroApp);

export { setResponseHeader as $, AppError as A, defineEventHandler as B, refusalOfUnmatched as C, setResponseHeaders as D, useDatabase as E, newId as F, isUniqueViolation as G, sha256 as H, timestamp as I, useContext as J, ofetch as K, LINGER_MS as L, Timestamp$1 as M, isId as N, sameSecret as O, Password as P, BoundedQueue as Q, Name as R, SMTP_URL_FORM as S, TOKEN_FORM as T, idSchema as U, createFetch as V, WEBHOOK_SECRET_FORM as W, createStorage as X, ID_PATTERN as Y, judged as Z, setResponseStatus as _, LINGER_BYTES as a, getRouterParams as a0, createError$1 as a1, authenticate as a2, ERRORS as a3, getQuery as a4, isLoopback as a5, createToken as a6, revokeUnused as a7, FutureTimestamp as a8, TokenName as a9, parseTimestamp as aA, followLog as aB, recentLog as aC, rank as aD, getRequestHeader as aE, AuthStatus as aa, SignIn as ab, signIn as ac, setSessionCookie as ad, authStatus as ae, cookieSession as af, assertOwnOrigin as ag, endSession as ah, clearSessionCookie as ai, PasswordChange as aj, changePassword as ak, sessionOf as al, revokeSession as am, Session as an, listSessions as ao, Setup as ap, setUp as aq, identify as ar, revokeToken as as, ApiToken as at, listTokens as au, CreatedApiToken as av, NewApiToken as aw, IdOrName as ax, browserAddress as ay, onCredentialsEnded as az, refusalOf as b, ensureServerToken as c, ensureSetupCode as d, errorText as e, openVault as f, selectAccount as g, hide as h, replacePassword as i, makePrivateDirectory as j, PRIVATE_DIRECTORY_MODE as k, logger as l, messageOf as m, PRIVATE_FILE_MODE as n, openDatabase as o, provideContext as p, randomHex as q, refuse as r, setUpLog as s, toNodeListener as t, useNitroApp as u, readSecret as v, writePrivateFile as w, LOG_FORMATS as x, LOG_LEVELS as y, S3_SECRET_FORM as z };
