/** What the server and the agents of its nodes agree on. */

/** The application protocol (RFC 7301) of a connection that is piped to the node's engine. */
export const ENGINE_PROTOCOL = 'deployer-engine'
/** That of every other connection: requests to the agent itself, and all requests to the server. */
export const HTTP_PROTOCOL = 'http/1.1'
/** The name in the server's certificate; that of a node has the node's id. */
export const SERVER_NAME = 'server.deployer'
/** The port of the node's loopback at which its engine finds images. Engines need no TLS for a registry on loopback. */
export const IMAGES_PORT = 7880
/** Where the agent finds its identity. */
export const IDENTITY_FILE = '/run/secrets/identity'
/** Where the agent finds the engine's socket. */
export const ENGINE_SOCKET = '/run/engine.sock'
/** The most that a request or an answer of an agent has. */
export const MAX_MESSAGE_BYTES = 64 * 1024
/** The most connections that one request may try. */
export const MAX_PROBES = 64

/** How an agent is started: its variables. */
export const VARIABLES = {
  port: 'DEPLOYER_NODE_PORT',
  /** Where the other nodes reach this one. */
  address: 'DEPLOYER_NODE_ADDRESS',
  server: 'DEPLOYER_SERVER',
  /** The server's id, as the labels of its containers have it. */
  serverId: 'DEPLOYER_SERVER_ID',
} as const

/** All PEM. */
export interface Identity {
  certificate: string
  key: string
  /** The certificate of the authority of both ends. */
  authority: string
}

/** The answer of `GET /host`. What cannot be read is null. */
export interface HostAnswer {
  /** The node's clock. */
  now: number
  cpuCount: number | null
  /** Seconds that all CPUs together spent in each mode (proc_stat(5)). */
  cpuSeconds: Record<string, number> | null
  memory: { totalBytes: number; availableBytes: number } | null
  /** The file system of the engine's images and containers. */
  disk: { totalBytes: number; freeBytes: number } | null
}

/** The body of `POST /check`. */
export interface Probes {
  targets: { host: string; port: number }[]
}

/** What became of a connection: accepted, refused by the host, or without any answer. */
export type Reach = 'open' | 'refused' | 'silent'

/** How the program that looks at the network between two nodes ends. */
export const ECHO_EXITS = { fine: 0, silent: 3, fullFramesLost: 4 } as const

/** How the agents' program is run in a container of their image. */
export const PROGRAM_COMMAND = ['node', '/node-agent.mjs']

/**
 * What an entry is: a container on a node with a data plane in it, which serves requests there. It runs the agent's program,
 * as it was when the container was created, so that a new version of the server that changes what follows needs a new number.
 */
export const ENTRY_FORM = 1
/** The data directory of its data plane, in a volume. */
export const ENTRY_FOLDER = '/data'
/** Below it: what tables name, and the data plane's programs. */
export const ENTRY_FILES = 'files'
/** Below it: which data plane to keep, an `EntrySettings`. */
export const ENTRY_SETTINGS = 'keeper/settings.json'
/** The name that ends what is sent to an entry: without it, it was cut. */
export const SENT_END = 'end'

/** The data plane that an entry keeps running. */
export interface EntrySettings {
  serverId: string
  /** The path of its program, in the entry. */
  program: string
  version: string
  workers: number
}
