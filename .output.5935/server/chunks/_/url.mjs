const MAX_URL_CHARACTERS = 2048;
const EXAMPLES = "such as https://github.com/owner/name.git or git@github.com:owner/name.git";
const PORTS = { https: 443, http: 80, ssh: 22, git: 9418 };
const MAX_PORT = 65535;
const SSH_USERNAME = /^[A-Za-z0-9_.][A-Za-z0-9_.+@-]*$/;
const CONTROL = /\p{Cc}/u;
function usualPort(protocol) {
  return PORTS[protocol];
}
function repositoryUrlFault(text) {
  const parsed = read(text);
  return typeof parsed === "string" ? parsed : null;
}
function parseRepositoryUrl(text) {
  const parsed = read(text);
  return typeof parsed === "string" ? null : parsed;
}
function formatRepositoryUrl({ protocol, host, port, path, username, scp }) {
  const user = protocol === "ssh" && username !== null ? username : null;
  const bracketed = host.includes(":") ? `[${host}]` : host;
  if (scp) return `${user}@${bracketed}:${path}`;
  const before = user === null ? "" : `${encodeURIComponent(user)}@`;
  const after = port === null ? "" : `:${port}`;
  return `${protocol}://${before}${bracketed}${after}/${encodePath(path)}`;
}
function splitCredentials(text) {
  const parsed = parseRepositoryUrl(text);
  if (!parsed) return { url: text, username: null, password: null };
  const { protocol, username, password } = parsed;
  const isPart = protocol === "ssh";
  return {
    url: formatRepositoryUrl(parsed),
    username: isPart ? null : username,
    password: isPart ? null : password
  };
}
function read(text) {
  if (text === "") return `must not be empty: give a repository address ${EXAMPLES}`;
  if (text.length > MAX_URL_CHARACTERS) return `must have at most ${MAX_URL_CHARACTERS} characters`;
  if (/[\p{Cc}\p{Zs}\p{Zl}\p{Zp}\ufeff]/u.test(text)) return "must not contain spaces or control characters";
  if (!text.isWellFormed()) return "must be well-formed Unicode";
  if (text.startsWith("-")) return `must not begin with "-": give a repository address ${EXAMPLES}`;
  if (/^[a-z0-9]+::/i.test(text))
    return `must not name a remote helper ("::"): give a repository address ${EXAMPLES}`;
  const scheme = /^[a-z][a-z0-9+.-]*(?=:\/\/)/i.exec(text)?.[0];
  if (scheme === void 0) return readScp(text);
  const rest = text.slice(scheme.length + "://".length);
  const authority = rest.split("/", 1)[0];
  return readUrl(scheme.toLowerCase(), authority, rest.slice(authority.length));
}
function readUrl(scheme, authority, rest) {
  if (!isProtocol(scheme)) return `must use https, http, ssh or git, not "${scheme}://"`;
  if (/[?#\\]/.test(authority + rest)) return 'must not contain "?", "#" or a backslash';
  const at = authority.lastIndexOf("@");
  const credentials = readCredentials(scheme, authority.slice(0, Math.max(at, 0)));
  if (typeof credentials === "string") return credentials;
  const place = readPlace(scheme, authority.slice(at + 1));
  if (typeof place === "string") return place;
  const path = readPath(rest.replace(/^\/+/, ""), decode);
  if ("fault" in path) return path.fault;
  return { protocol: scheme, ...place, path: path.decoded, ...credentials, scp: false };
}
function readScp(text) {
  const match = /^([^@/:]*)@(\[[^\]]*\]|[^[\]:/@]*):(.*)$/.exec(text);
  const host = match ? readHost(match[2]) : null;
  if (!match || host === null || !SSH_USERNAME.test(match[1]))
    return `must be a repository address ${EXAMPLES}; local paths are not taken`;
  const written = match[3];
  if (written.includes("\\")) return "must not contain a backslash";
  const path = readPath(written.replace(/^\/+/, ""), (segment) => segment);
  if ("fault" in path) return path.fault;
  if (/^(-|[^/]~)/.test(written))
    return 'must not have a path that begins with "-" or has "~" in second place';
  const root = written.startsWith("/") ? "/" : "";
  return {
    protocol: "ssh",
    host,
    port: null,
    path: `${root}${path.decoded}`,
    username: match[1],
    password: null,
    scp: true
  };
}
function readCredentials(protocol, text) {
  const colon = text.indexOf(":");
  const username = decode(colon < 0 ? text : text.slice(0, colon));
  const password = decode(colon < 0 ? "" : text.slice(colon + 1));
  if (username === null || password === null) return "has credentials that are not percent-encoded properly";
  if (CONTROL.test(username + password)) return "must not have control characters in its credentials";
  if (protocol === "ssh" && password !== "")
    return "must not carry a password over ssh: add the server's public key to the host";
  if (protocol === "ssh" && username !== "" && !SSH_USERNAME.test(username))
    return "must have a user name of letters, digits and any of _ . + @ -";
  if (protocol === "git" && text !== "") return "must not carry credentials over git://, which has no sign-in";
  return { username: username || null, password: password || null };
}
function readPlace(protocol, text) {
  const match = /^(\[[^\]]*\]|[^[\]:]*)(?::(\d{0,5}))?$/.exec(text);
  const host = match ? readHost(match[1]) : null;
  const port = Number(match?.[2] || PORTS[protocol]);
  if (host === null) return `must name a host: give a repository address ${EXAMPLES}`;
  if (port === 0 || port > MAX_PORT) return `must have a port from 1 to ${MAX_PORT}`;
  return { host, port: port === PORTS[protocol] ? null : port };
}
function readHost(text) {
  const host = URL.parse(`http://${text}/`)?.hostname ?? "";
  const ipv6 = /^\[([0-9a-f:.]+)\]$/.exec(host)?.[1];
  if (ipv6 !== void 0) return ipv6;
  return /^[a-z0-9_]([a-z0-9._-]*[a-z0-9_.])?$/.test(host) ? host : null;
}
function readPath(text, decodeSegment) {
  if (text === "") return { fault: `must name a repository after the host, ${EXAMPLES}` };
  const segments = [];
  for (const written of text.split("/")) {
    const segment = decodeSegment(written);
    if (segment === null) return { fault: "has a path that is not percent-encoded properly" };
    if (CONTROL.test(segment)) return { fault: "must not have control characters in its path" };
    if (/[/\\]/.test(segment)) return { fault: "must not hide a slash in its path" };
    if (segment === "." || segment === "..") return { fault: 'must not have "." or ".." in its path' };
    segments.push(segment);
  }
  const decoded = segments.join("/");
  return decoded.includes("@[") ? { fault: 'must not have "@[" in its path' } : { decoded };
}
function encodePath(path) {
  return encodeURI(path).replaceAll("?", "%3F").replaceAll("#", "%23");
}
function isProtocol(scheme) {
  return Object.hasOwn(PORTS, scheme);
}
function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

export { formatRepositoryUrl as f, parseRepositoryUrl as p, repositoryUrlFault as r, splitCredentials as s, usualPort as u };
