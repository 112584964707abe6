/**
 * What the control plane and the data plane say to each other: newline-delimited JSON over a Unix socket in the data
 * directory. The data plane sends a `Hello` first; then both sides may send requests, and answer each one.
 */

/** Incremented when a message changes its meaning. A different number is treated like a different version: `upgrade`. */
export const PROTOCOL = 3

/** The first protocol in which tables have targets as JSON. */
export const TARGETS_AS_JSON = 3

/** An address to serve on, written as in the options: `[::]:80`, `0.0.0.0:8080`, `127.0.0.1:0`. */
export interface ListenerSpec {
  address: string
  /** `https` is TLS, with HTTP/2 for clients that ask for it. */
  protocol: 'http' | 'https'
}

/** An open listener: the address that was asked for and the one it is bound to. */
export interface BoundListener {
  /** As in the table. */
  address: string
  /** The IP address bound: `0.0.0.0` where `[::]` was asked for on a host without IPv6. */
  host: string
  port: number
}

/** One running instance of a service. `host` is an IP address. */
export interface Upstream {
  instance: string
  host: string
  port: number
  /** Whether it gets no new requests; those under way continue. */
  draining?: boolean
}

export type TargetState = 'serving' | 'suspended' | 'not_deployed' | 'starting' | 'failed' | 'scaled_to_zero'

/**
 * A published folder. `folder` is absolute and has `files/`, which is served, and `rules.json` (`sites/rules-file.ts`). It
 * never changes once a table has it.
 */
export interface Site {
  folder: string
  /**
   * Folders that were replaced, newest first: their files with content-hashed names are served until that moment
   * (milliseconds since 1970), so that a page loaded before a deploy still finds its assets.
   */
  earlier: { folder: string; until: number }[]
}

/** The names that the resolver answers inside one private network. */
export interface NameZone {
  /** CIDR: clients with an address in it belong to this network. */
  subnet: string
  /** The host's address in the network, where the resolver listens on port 53. */
  gateway: string
  /** Addresses in rotation by name: one label in lower case. */
  names: Record<string, string[]>
}

/** The id of the control plane as a target. */
export const DASHBOARD_TARGET = 'dashboard'

/** The statuses of redirects. */
export type RedirectStatus = 301 | 302 | 303 | 307 | 308

/**
 * What a service asks for its requests. They apply in the order of the fields, before the instance or file that answers;
 * `headers` change its answer. An absent field asks for nothing.
 */
export interface Edge {
  /** CIDRs and addresses of clients that may use the service; others get 403. Empty: nobody. */
  allow?: string[]
  /** In the grammar of `_redirects`. The first one that matches answers. */
  redirects?: { from: string; to: string; status: RedirectStatus }[]
  /** Everybody but these clients gets 503. `page` is HTML; without one, the page of the data plane with `message`. */
  maintenance?: { message?: string; page?: string; retry_after_seconds: number; allow?: string[] }
  /** By client address, IPv6 by /64. */
  rate_limit?: { requests: number; period_seconds: number; burst: number }
  /** `hash` is a scrypt hash as text (`server/edge/passwords.ts`). Paths of `except_paths`, with `*`, need no password. */
  basic_auth?: { users: { username: string; hash: string }[]; except_paths: string[] }
  /** Fields of answers by path; null removes one. */
  headers?: { path: string; name: string; value: string | null }[]
  /** Whether a cookie leads a client to the same instance. */
  session_affinity?: boolean
  /** Instead of the table's. */
  upstream_timeout_ms?: number
  /** Larger request bodies get 413. */
  max_body_bytes?: number
  /** Whether each request is reported as a line of the service's log. */
  access_log?: boolean
}

/** What hosts lead to. Requests are counted by `id`: of a service, of a redirect host, or that of the dashboard. */
export interface Target {
  id: string
  state: TargetState
  upstreams: Upstream[]
  /** Instead of upstreams. */
  site?: Site
  /**
   * Instead of upstreams, and whatever the state: the URL that clients are redirected to, such as `https://example.com`. The
   * path and the query of the request are appended to it, so it has none of its own at its end, not even a slash.
   */
  redirect?: string
  /** 308 if absent. */
  redirect_status?: RedirectStatus
  /** False if they are not appended: then `redirect` is any URL. */
  redirect_keeps_path?: boolean
  /** Absent if the service asks for nothing: its requests then cost nothing more. */
  edge?: Edge
  /** Whether answers of the upstreams are compressed for clients that accept that. */
  compression?: boolean
}

/** A certificate chain and its key in PEM. A file named in a table never changes: a renewed one has another path. */
export interface CertificateFiles {
  certificate: string
  key: string
}

/**
 * A full snapshot of everything that the data plane serves. The last one received is in force, whatever its version, so that
 * a restored database can go back. Hosts are lower case, without port and trailing dot; `*.example.com` matches one or more
 * labels before `example.com` and comes after every exact host, the longest suffix first.
 */
export interface RouteTable {
  version: number
  listeners: ListenerSpec[]
  hosts: Record<string, string>
  targets: Record<string, Target>
  /** By environment id. */
  zones: Record<string, NameZone>
  /**
   * The certificates of `https` listeners, by host or wildcard as in `hosts`. Plain requests for these hosts are redirected
   * to the first `https` listener.
   */
  certificates: Record<string, CertificateFiles>
  /** Answers to HTTP-01 challenges by token, on any host (RFC 8555 8.3). */
  acme_challenges: Record<string, string>
  /** Certificates for TLS-ALPN-01 handshakes, by host (RFC 8737). */
  tls_challenges: Record<string, CertificateFiles>
  /** The key for answers below `VERIFICATION_PATH`; if empty, nothing is answered there. */
  verification_key: string
  /** `max-age` of `Strict-Transport-Security` in answers over TLS (RFC 6797); 0 omits the field. */
  hsts_seconds: number
  /** Whether `http` listeners speak HTTP/2 with clients that begin with it (RFC 9113 3.3). */
  h2c: boolean
  /** CIDRs whose `X-Forwarded-*` fields are trusted and extended. */
  trusted_proxies: string[]
  /** Max milliseconds from the last byte sent to the response head. */
  upstream_timeout_ms: number
  /** Max open connections of one network, over all workers; loopback and trusted proxies are exempt. */
  max_connections_per_ip: number
}

/**
 * Below this path, on every host, a nonce is answered with its HMAC-SHA256 under the table's key, in hex. That is how the
 * control plane verifies that a name leads to this server.
 */
export const VERIFICATION_PATH = '/.well-known/deployer/'

/** The first line on the control socket. */
export interface Hello {
  protocol: number
  version: string
  server_id: string
  pid: number
  listeners: BoundListener[]
  table_version: number | null
}

/** Sums of one target since the data plane started; they never decrease while it runs. */
export interface TargetCounts {
  status_2xx: number
  status_3xx: number
  status_4xx: number
  status_5xx: number
  /** Requests per bucket of `LATENCY_BUCKETS_SECONDS` (not cumulative), then those above the last bound. */
  latency_buckets: number[]
  latency_sum_seconds: number
}

/** The answer to `counts`. A new `incarnation` means that the data plane was started again and all sums began at 0. */
export interface Counts {
  incarnation: string
  /** RFC 3339: when this data plane was started. */
  started_at: string
  /** By target id; `unrouted` holds requests that reached no target. */
  targets: Record<string, TargetCounts>
  open_connections: number
  open_requests: number
}

/** The id under which requests without a target are counted. */
export const UNROUTED = 'unrouted'

/**
 * A request that has ended, for the access log of a service. A tuple, since there are many. Texts are printable ASCII of
 * limited length.
 */
export type AccessLine = [
  service: string,
  /** When it ended, in milliseconds since 1970. */
  at: number,
  method: string,
  host: string,
  /** With the query. */
  path: string,
  status: number,
  /** Of the answer's body, as sent. */
  bytes: number,
  milliseconds: number,
  ip: string,
  userAgent: string | null,
  requestId: string,
  /** The instance that it was sent to. */
  instance: string | null,
]

/** The answer to `access_lines`: the oldest lines that wait, which are handed out once. */
export interface AccessLines {
  lines: AccessLine[]
  /** By service id: how many lines are missing after these, since there was no room for them. */
  lost: Record<string, number>
  /** Whether more wait. */
  more: boolean
}

/** Why a request over the control socket failed. */
export interface WireError {
  code:
    | 'invalid_table'
    | 'other_server'
    | 'EADDRINUSE'
    | 'EACCES'
    | 'EADDRNOTAVAIL'
    | 'listen_failed'
    | 'failed'
    | 'unknown'
  message: string
  /** The listen address that failed. */
  address?: string
}

/** The fields of a table with many entries by name. Targets come before the hosts that lead to them. */
export const SECTIONS = ['targets', 'hosts', 'zones', 'certificates', 'acme_challenges'] as const

export type Section = (typeof SECTIONS)[number]

/** The fields of a table that are not sections. */
export type TableSettings = Omit<RouteTable, Section>

/** The value of an entry in a message. A target is given as JSON text, since most of a large table are never parsed. */
export type EntryValue<Name extends Section> = Name extends 'targets' ? string : RouteTable[Name][string]

/** Entries of some sections of a table, as names with values; null removes an entry. */
export type TablePart = { [Name in Section]?: [name: string, value: EntryValue<Name> | null][] }

/** A part of a table or of the changes to one: the body of the request `table`. */
export interface TableMessage {
  /** The index of this message among those of the table, from 0. */
  part: number
  /** Whether the entries are changes to the table that came before over the same connection. */
  base: boolean
  entries: TablePart
  /** Sent with the last message. */
  settings?: TableSettings
}

/** The requests of the control plane, with their answers. */
export interface ControlRequests {
  /** Must come first. The id of another server is refused. */
  attach: { ask: { server_id: string; workers: number }; answer: null }
  /** A table, or its changes, in parts. It is in force when the last part was answered; one fault refuses all of it. */
  table: { ask: TableMessage; answer: { listeners: BoundListener[] } | null }
  /** Answered when no request to the instance is open; at the deadline, the remaining ones are cut. */
  drain: { ask: { instance: string; deadline_ms: number }; answer: null }
  counts: { ask: object; answer: Counts }
  access_lines: { ask: object; answer: AccessLines }
  /** Answered when the new program serves; the connection ends after that. */
  upgrade: { ask: { node: string; program: string; version: string; workers: number }; answer: null }
  /** From a new supervisor to the old: asks for the keys of TLS session tickets, in base64, so that sessions resume. */
  ticket_keys: { ask: object; answer: { keys: string; left_ms: number } }
  /** From a new supervisor to the old: end without ending your workers. */
  handover: { ask: object; answer: { table: RouteTable | null } }
  /** Ends the whole data plane; answered when its workers have ended. */
  stop: { ask: object; answer: null }
}

/** Settings of a supervisor, its only command line argument besides the role. */
export interface SupervisorSettings {
  data_directory: string
  server_id: string
  version: string
  workers: number
  /** The listening sockets that it was started with. */
  inherited: { address: string; fd: number }[]
  /** Whether a running supervisor started this one, and will hand over to it. */
  successor: boolean
}
