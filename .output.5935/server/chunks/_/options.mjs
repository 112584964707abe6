import { availableParallelism, homedir } from 'node:os';
import { resolve, join } from 'node:path';
import { A as AppError, m as messageOf, v as readSecret, S as SMTP_URL_FORM, x as LOG_FORMATS, y as LOG_LEVELS, z as S3_SECRET_FORM, W as WEBHOOK_SECRET_FORM, T as TOKEN_FORM } from '../nitro/nitro.mjs';
import { b as bad, F as FLAGS, S as SWITCH_VALUES, p as parseFlags, r as readDnsProvider, t as title } from './dns-provider.mjs';
import { n as normalName, i as isLocalName } from './names.mjs';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { createSecureContext } from 'node:tls';
import { i as imageFault } from './rules2.mjs';

const MAX_UPSTREAM_TIMEOUT_MS = 24 * 60 * 60 * 1e3;
const MAX_CONNECTIONS_PER_ADDRESS = 1e6;
const MAX_HSTS_SECONDS = 100 * 365 * 24 * 60 * 60;

function readBucket({ url, accessKeyId, secretAccessKey, region }) {
  if (url === null && accessKeyId === null && secretAccessKey === null && region === null) return null;
  if (url === null || accessKeyId === null || secretAccessKey === null)
    throw new AppError(
      "invalid_request",
      "--backup-s3-url, --backup-s3-key and --backup-s3-secret-file (DEPLOYER_BACKUP_S3_URL, DEPLOYER_BACKUP_S3_KEY, DEPLOYER_BACKUP_S3_SECRET_FILE) go together"
    );
  if (!/^[!-~]{1,256}$/.test(accessKeyId))
    throw bad("backup-s3-key", "1 to 256 visible ASCII characters", accessKeyId);
  if (region !== null && !/^[A-Za-z0-9-]{1,64}$/.test(region))
    throw bad("backup-s3-region", "the name of a region, such as eu-central-1", region);
  return { url: readUrl(url), accessKeyId, secretAccessKey, region };
}
function readUrl(value) {
  const url = URL.parse(value);
  const isPlain = url !== null && url.username === "" && url.password === "" && !/[?#]/.test(value);
  const path = url?.pathname.replace(/\/$/, "") ?? "";
  if (!isPlain || !/^https?:$/.test(url.protocol) || !/^(\/[A-Za-z0-9._-]+)+$/.test(path))
    throw bad(
      "backup-s3-url",
      "such as https://s3.example.com/bucket/prefix, without credentials",
      isPlain ? value : "..."
    );
  return url.origin + path;
}

const MAX_PORT = 65535;
function readListen(name, value, fallback) {
  if (value === null) return { ...fallback, named: false };
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]\s]+)):(\d{1,5})$/.exec(value);
  const port = Number(match?.[3]);
  if (!match || port > MAX_PORT) throw bad(name, "address:port, such as 127.0.0.1:7878 or [::]:80", value);
  return { host: match[1] ?? match[2], port, named: true };
}
function readDomain(name, value) {
  try {
    return normalName(value, `--${name} (${FLAGS[name].variable})`);
  } catch (cause) {
    throw new AppError("invalid_request", `${messageOf(cause)}, not "${value}"`, { cause });
  }
}
const MAX_HOST_CHARACTERS = 253;
function readHost(name, value) {
  const host = value.toLowerCase().replace(/\.$/, "");
  const isName = host.split(".").every((label) => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(label));
  if (!isName || host.length > MAX_HOST_CHARACTERS) throw bad(name, "the name of a host", value);
  return host;
}
function readList(value) {
  return (value ?? "").split(",").map((entry) => entry.trim()).filter((entry) => entry !== "");
}
function readIps(name, value) {
  const addresses = readList(value);
  const families = addresses.map((address) => isIP(address));
  if (families.includes(0) || new Set(families).size < families.length)
    throw bad(name, "an IP address, or one of each family with a comma between", value);
  return addresses;
}
function readResolvers(name, value) {
  return readList(value).map((entry) => {
    const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(entry) ?? [];
    const isKnown = isIP(entry) !== 0 || isIP(bracketed ?? plain ?? "") !== 0 && Number(port ?? 53) <= MAX_PORT;
    if (!isKnown) throw bad(name, "addresses such as 192.0.2.53 or [2001:db8::53]:5353", entry);
    return entry;
  });
}
function readHttpsUrl(name, value) {
  if (value !== null && URL.parse(value)?.protocol !== "https:") throw bad(name, "an https URL", value);
  return value;
}
function readEmail(name, value) {
  if (value !== null && !/^[^\s@,]+@[^\s@,]+$/.test(value)) throw bad(name, "an e-mail address", value);
  return value;
}
function readCertificates(name, file) {
  if (file === null) return null;
  try {
    const pem = readFileSync(file, "utf8");
    createSecureContext({ ca: pem });
    if (!pem.includes("-----BEGIN CERTIFICATE-----")) throw new Error("it holds no certificate");
    return pem;
  } catch (cause) {
    throw bad(name, `a readable file of PEM certificates (${messageOf(cause)})`, file);
  }
}
function readCidrs(name, value) {
  const cidrs = readList(value);
  for (const cidr of cidrs) {
    const [address = "", prefix = ""] = cidr.split("/");
    const longest = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
    if (!/^\d{1,3}$/.test(prefix) || Number(prefix) > longest)
      throw bad(name, "CIDRs such as 10.0.0.0/8", cidr);
  }
  return cidrs;
}
function readImage(name, value) {
  const colon = value.lastIndexOf(":");
  const tag = value.slice(colon + 1);
  if (imageFault(value) !== null || value.includes("@") || colon === -1 || tag.includes("/"))
    throw bad(name, "an image with a tag, such as postgres:18", value);
  return { repository: value.slice(0, colon), tag };
}
const LONGEST_DURATION_MS = MAX_UPSTREAM_TIMEOUT_MS;
const UNIT_MS = { "": 1e3, ms: 1, s: 1e3, m: 6e4, min: 6e4, h: 36e5 };
function readDuration(name, value, fallbackMs) {
  if (value === null) return fallbackMs;
  const match = /^(\d+)\s*(ms|s|m|min|h)?$/.exec(value);
  const milliseconds = Number(match?.[1]) * UNIT_MS[match?.[2] ?? ""];
  if (!match || milliseconds === 0 || milliseconds > LONGEST_DURATION_MS) {
    throw bad(name, "a duration such as 90s, 30m or 1h, a day at most", value);
  }
  return milliseconds;
}
const RETENTION_UNIT_MS = { m: 6e4, h: 36e5, d: 864e5 };
const LONGEST_RETENTION_MS = 3650 * 864e5;
function readRetention(name, value) {
  const [, count, unit = ""] = /^(\d{1,7})([mhd])$/.exec(value) ?? [];
  const milliseconds = Number(count) * (RETENTION_UNIT_MS[unit] ?? NaN);
  if (!(milliseconds > 0 && milliseconds <= LONGEST_RETENTION_MS))
    throw bad(name, "a time such as 12h, 7d or 30d, ten years at most", value);
  return milliseconds;
}
function readSwitch(name, value) {
  if (value === null) return false;
  const meant = Object.hasOwn(SWITCH_VALUES, value) ? SWITCH_VALUES[value] : void 0;
  if (meant === void 0) throw bad(name, "on or off", value);
  return meant;
}
function readChoice(name, value, choices, fallback) {
  if (value === null) return fallback;
  if (!choices.includes(value)) throw bad(name, choices.join(", "), value);
  return value;
}

const DATA_PLANE_STARTS = ["start", "wait"];
const TLS = ["auto", "off"];
function readOptions(argv, environment = process.env) {
  const flags = parseFlags(argv);
  const text = (name) => {
    const value = flags[name] ?? environment[FLAGS[name].variable];
    return value === void 0 || value === "" ? null : value;
  };
  const number = (name, fallback, least, most = Infinity) => {
    const value = text(name);
    if (value === null) return fallback;
    if (!/^\d+(\.\d+)?$/.test(value) || Number(value) < least)
      throw bad(name, `a number, at least ${least}`, value);
    if (Number(value) > most) throw bad(name, `a number, at most ${most}`, value);
    return Number(value);
  };
  const count = (name, fallback, least = 1, most = Infinity) => {
    const value = number(name, fallback, least, most);
    if (!Number.isInteger(value)) throw bad(name, "a whole number", String(value));
    return value;
  };
  const secret = (name, form) => {
    const given = (flag) => ({ title: title(flag), value: text(flag) });
    return readSecret(given(name), given(`${name}-file`), form);
  };
  const baseDomain = readDomain("base-domain", text("base-domain") ?? "localhost");
  return {
    dataDirectory: resolve(text("data-dir") ?? defaultDataDirectory(environment)),
    listen: readListen("listen", text("listen"), { host: "127.0.0.1", port: 7878 }),
    ...readServiceListeners(text),
    baseDomain,
    dashboardHost: readDashboardHost(text("dashboard-host"), baseDomain),
    apiToken: secret("api-token", TOKEN_FORM),
    allowedHosts: readList(text("allowed-hosts")).map((host) => readHost("allowed-hosts", host)),
    dockerHost: text("docker-host"),
    defaultMemoryMb: count("default-memory-mb", 512, MIN_MEMORY_MB),
    defaultCpus: number("default-cpus", 1, 0.01),
    buildConcurrency: count("build-concurrency", 1),
    buildTimeoutMs: readDuration("build-timeout", text("build-timeout"), 30 * 6e4),
    jobConcurrency: count("job-concurrency", JOBS_A_CORE * availableParallelism()),
    proxyWorkers: text("proxy-workers") === null ? null : count("proxy-workers", 1),
    dataPlane: readChoice("data-plane", text("data-plane"), DATA_PLANE_STARTS, "start"),
    baseImageRegistry: text("base-image-registry"),
    webhookSecret: secret("webhook-secret", WEBHOOK_SECRET_FORM),
    denyPrivateGit: readSwitch("deny-private-git", text("deny-private-git")),
    relationalImage: readImage("relational-image", text("relational-image") ?? "postgres:18"),
    keyvalueImage: readImage("keyvalue-image", text("keyvalue-image") ?? "valkey/valkey:9"),
    backupBucket: readBucket({
      url: text("backup-s3-url"),
      accessKeyId: text("backup-s3-key"),
      secretAccessKey: secret("backup-s3-secret", S3_SECRET_FORM),
      region: text("backup-s3-region")
    }),
    publicIps: readIps("public-ip", text("public-ip")),
    publicHttpPort: text("public-http-port") === null ? null : count("public-http-port", 0, 1, MAX_PORT),
    dnsResolvers: readResolvers("dns-resolvers", text("dns-resolvers")),
    acme: {
      directory: readHttpsUrl("acme-directory", text("acme-directory")) ?? LETS_ENCRYPT,
      email: readEmail("acme-email", text("acme-email")),
      trusted: readCertificates("acme-ca-file", text("acme-ca-file")),
      externalAccount: readExternalAccount(text("acme-eab-kid"), text("acme-eab-key")),
      dns: readDnsProvider(text("acme-dns"), environment)
    },
    trustedProxies: readCidrs("trusted-proxies", text("trusted-proxies")),
    upstreamTimeoutMs: readDuration("upstream-timeout", text("upstream-timeout"), 3e5),
    maxConnectionsPerIp: count("max-connections-per-ip", 2e3, 1, MAX_CONNECTIONS_PER_ADDRESS),
    hstsSeconds: text("hsts") === "off" ? 0 : count("hsts", 0, 0, MAX_HSTS_SECONDS),
    h2c: readSwitch("h2c", text("h2c")),
    logLevel: readChoice("log-level", text("log-level"), LOG_LEVELS, "info"),
    logFormat: readChoice("log-format", text("log-format"), LOG_FORMATS, "auto"),
    logRetentionMs: readRetention("log-retention", text("log-retention") ?? "7d"),
    logSizeMb: count("log-size-mb", 100, 1, MAX_LOG_SIZE_MB),
    mail: readMail(secret("smtp-url", SMTP_URL_FORM), text("smtp-from"))
  };
}
function secretsOf({ apiToken, webhookSecret, backupBucket, acme }) {
  const { dns, externalAccount } = acme;
  const ofDns = dns?.kind === "cloudflare" ? dns.token : dns?.kind === "rfc2136" ? dns.tsig?.secret : null;
  return [apiToken, webhookSecret, backupBucket?.secretAccessKey, externalAccount?.key, ofDns].filter(
    (secret) => typeof secret === "string"
  );
}
function defaultDataDirectory(environment) {
  if (process.getuid?.() === 0) return "/var/lib/deployer";
  return join(environment.XDG_DATA_HOME || join(homedir(), ".local/share"), "deployer");
}
const MAX_LOG_SIZE_MB = 1048576;
const JOBS_A_CORE = 4;
const MIN_MEMORY_MB = 16;
const LETS_ENCRYPT = "https://acme-v02.api.letsencrypt.org/directory";
function readServiceListeners(text) {
  const tls = readChoice("tls", text("tls"), TLS, "auto");
  const httpListen = readListen("http-listen", text("http-listen"), { host: "::", port: 80 });
  const httpsListen = readListen("https-listen", text("https-listen"), { host: "::", port: 443 });
  const isSame = httpListen.host === httpsListen.host && httpListen.port === httpsListen.port;
  if (tls !== "off" && isSame)
    throw bad("https-listen", "another address than that of --http-listen", text("https-listen") ?? ":443");
  return { httpListen, httpsListen, tls };
}
function readDashboardHost(value, baseDomain) {
  if (value === "off") return null;
  if (value !== null) return readDomain("dashboard-host", value);
  return isLocalName(baseDomain) ? null : `dashboard.${baseDomain}`;
}
function readExternalAccount(kid, key) {
  if (kid === null && key === null) return null;
  if (kid === null || key === null || !/^[A-Za-z0-9_-]{16,}$/.test(key))
    throw new AppError(
      "invalid_request",
      "--acme-eab-kid and --acme-eab-key (DEPLOYER_ACME_EAB_KID, DEPLOYER_ACME_EAB_KEY) go together; the key is base64url"
    );
  return { kid, key };
}
function readMail(url, from) {
  if (url === null && from === null) return null;
  if (url === null || from === null)
    throw new AppError(
      "invalid_request",
      "--smtp-url and --smtp-from (DEPLOYER_SMTP_URL, DEPLOYER_SMTP_FROM) go together"
    );
  if (!URL.canParse(url))
    throw new AppError("invalid_request", "--smtp-url (DEPLOYER_SMTP_URL) must be a URL");
  return { url, from: readEmail("smtp-from", from) };
}

export { readOptions as r, secretsOf as s };
