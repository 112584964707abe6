/**
 * What the control plane and the data plane say to each other: newline-delimited JSON over a Unix socket in the
 * data directory. The data plane opens with a `Hello`; then each side may send requests and answers each one.
 */

/** Raised when a message changes its meaning; another number is treated like another version: `upgrade`. */
export const PROTOCOL = 3

/** The first in which a table gives targets as JSON. */
export const TARGETS_AS_JSON = 3

/** An address to serve on, as the options spell it: `[::]:80`, `0.0.0.0:8080`, `127.0.0.1:0`. */
export interface ListenerSpec {
  address: string
  /** `https` speaks TLS, and HTTP/2 with clients that ask for it. */
  protocol: 'http' | 'https'
}

/** A listener that is open: the address that was asked for and what it really is bound to. */
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
  /** Gets no new request; those under way go on. */
  draining?: boolean
}

export type TargetState = 'serving' | 'suspended' | 'not_deployed' | 'starting' | 'failed' | 'scaled_to_zero'

/**
 * A published folder. `folder` is absolute and holds `files/`, what is served, and `rules.json` (`sites/rules-file.ts`); it
 * never changes once it stands in a table.
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
  /** CIDR; who asks from an address in it belongs here. */
  subnet: string
  /** The host's address in the network, where the resolver listens on port 53. */
  gateway: string
  /** Addresses in rotation by name, lower case, one label. */
  names: Record<string, string[]>
}

/** The control plane itself, as a target. */
export const DASHBOARD_TARGET = 'dashboard'

/** What hosts lead to. Requests are counted by `id`: a service's id or that of the dashboard. */
export interface Target {
  id: string
  state: TargetState
  upstreams: Upstream[]
  /** In place of upstreams. */
  site?: Site
  /** In place of upstreams, and whatever the state: where requests are sent on to, an origin such as `https://example.com`. */
  redirect?: string
  /** What the upstreams answer is compressed for who takes that; else it goes out as it came. */
  compression?: boolean
}

/** A certificate chain and its key in PEM. A file that stands in a table never changes: a renewed one has another path. */
export interface CertificateFiles {
  certificate: string
  key: string
}

/**
 * A full snapshot of everything the data plane does; the last one received counts, whatever its version, so that a
 * restored database can go back. Hosts are lower case without port and trailing dot; `*.example.com` matches one or
 * more labels before `example.com` and comes after every exact host, the longest suffix first.
 */
export interface RouteTable {
  version: number
  listeners: ListenerSpec[]
  hosts: Record<string, string>
  targets: Record<string, Target>
  /** By environment id. */
  zones: Record<string, NameZone>
  /**
   * What `https` listeners show, by host or wildcard as in `hosts`. Plain requests for these hosts are redirected to the
   * first `https` listener.
   */
  certificates: Record<string, CertificateFiles>
  /** What to answer to HTTP-01 challenges, by token, whatever the host (RFC 8555 8.3). */
  acme_challenges: Record<string, string>
  /** What to show in handshakes of TLS-ALPN-01, by host (RFC 8737). */
  tls_challenges: Record<string, CertificateFiles>
  /** With which `VERIFICATION_PATH` is answered; empty answers nothing there. */
  verification_key: string
  /** The age of `Strict-Transport-Security` in answers over TLS (RFC 6797); 0 sends none. */
  hsts_seconds: number
  /** `http` listeners speak HTTP/2 with clients that begin so (RFC 9113 3.3). */
  h2c: boolean
  /** CIDRs whose `X-Forwarded-*` are believed and appended to. */
  trusted_proxies: string[]
  /** Milliseconds from the last byte sent to the response head. */
  upstream_timeout_ms: number
  /** Open connections of one network, over all workers; loopback and trusted proxies are exempt. */
  max_connections_per_ip: number
}

/**
 * Below it, at every host, a nonce is answered with its HMAC-SHA256 under the table's key, in hex: by that the control
 * plane knows that a name leads here.
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

/** Sums of one target since the data plane's start; none ever falls while it runs. */
export interface TargetCounts {
  status_2xx: number
  status_3xx: number
  status_4xx: number
  status_5xx: number
  /** Requests per bucket of `LATENCY_BUCKETS_SECONDS` (not cumulative), then those above the last bound. */
  latency_buckets: number[]
  latency_sum_seconds: number
}

/** The answer to `counts`. A new `incarnation` means that the data plane was started anew and all sums began at 0. */
export interface Counts {
  incarnation: string
  /** RFC 3339, when this data plane was started. */
  started_at: string
  /** By target id; `unrouted` holds requests that reached no target. */
  targets: Record<string, TargetCounts>
  open_connections: number
  open_requests: number
}

/** Where requests without a target are counted. */
export const UNROUTED = 'unrouted'

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
  /** The listen address that could not be had. */
  address?: string
}

/** The fields of a table that hold many entries by name; targets come before the hosts that lead to them. */
export const SECTIONS = ['targets', 'hosts', 'zones', 'certificates', 'acme_challenges'] as const

export type Section = (typeof SECTIONS)[number]

/** The fields of a table that are no sections. */
export type TableSettings = Omit<RouteTable, Section>

/** What a message says of an entry: of a target its JSON, since of a large table most are never read, else the value. */
export type EntryValue<Name extends Section> = Name extends 'targets' ? string : RouteTable[Name][string]

/** Entries of some sections of a table, as names with values; null for those that are gone. */
export type TablePart = { [Name in Section]?: [name: string, value: EntryValue<Name> | null][] }

/** A part of a table, or of the changes to one: what the request `table` says. */
export interface TableMessage {
  /** Counts the messages of one table from 0. */
  part: number
  /** The entries are changes to the table that came before over the same connection. */
  base: boolean
  entries: TablePart
  /** Come with the last message. */
  settings?: TableSettings
}

/** Requests of the control plane, each with what it answers. */
export interface ControlRequests {
  /** Must come first. Another server's id is refused. */
  attach: { ask: { server_id: string; workers: number }; answer: null }
  /** A table, or what changed of it, in order; it is in force when the last was answered. A fault refuses all of it. */
  table: { ask: TableMessage; answer: { listeners: BoundListener[] } | null }
  /** Answers when no request to the instance is open any more; at the deadline those left are cut. */
  drain: { ask: { instance: string; deadline_ms: number }; answer: null }
  counts: { ask: object; answer: Counts }
  /** Answers when the new program serves; the connection ends after that. */
  upgrade: { ask: { node: string; program: string; version: string; workers: number }; answer: null }
  /** Of a new supervisor to the old: the keys of TLS session tickets, in base64, so that sessions resume. */
  ticket_keys: { ask: object; answer: { keys: string; left_ms: number } }
  /** Of a new supervisor to the old: end without ending your workers. */
  handover: { ask: object; answer: { table: RouteTable | null } }
  /** Ends the whole data plane; answers when its workers have ended. */
  stop: { ask: object; answer: null }
}

/** Settings of a supervisor, its only command line argument beside the role. */
export interface SupervisorSettings {
  data_directory: string
  server_id: string
  version: string
  workers: number
  /** Listening sockets it was started with. */
  inherited: { address: string; fd: number }[]
  /** True when a running supervisor starts its successor: that one hands over. */
  successor: boolean
}
