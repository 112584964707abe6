import { readFile } from 'node:fs/promises'
import { isProcessOf } from './network-namespace.ts'

/** A TCP socket that a container's processes listen on. */
export interface Listener {
  port: number
  /** As in a URL: `127.0.0.1`, `[::1]`; that of the first socket if several share the port. */
  host: string
  /** Whether it can only be reached from inside the container. */
  isLoopback: boolean
}

/** `st` of a listening socket in /proc/net/tcp (Linux, include/net/tcp_states.h). */
const LISTEN = '0A'
/** The engine's own name server in containers of user-defined networks: 127.0.0.11, as /proc/net/tcp writes it. */
const ENGINE_RESOLVER = '0B00007F'
const LOOPBACK_V6 = '00000000000000000000000001000000'

/**
 * The sockets that listen in the network of a container whose first process is `pid`, ordered by port; null when that
 * process cannot be inspected from here (an engine in a virtual machine, or of another user).
 */
export async function listenersOf(pid: number, containerId: string): Promise<Listener[] | null> {
  try {
    if (!(await isProcessOf(pid, containerId))) return null
    const v4 = await readFile(`/proc/${pid}/net/tcp`, 'utf8')
    const v6 = await readFile(`/proc/${pid}/net/tcp6`, 'utf8').catch(() => '')
    return listenersIn(v4, v6)
  } catch {
    return null
  }
}

/** The listening sockets in the tables /proc/[pid]/net/tcp and tcp6 (proc_pid_net(5)), ordered by port. */
export function listenersIn(v4: string, v6: string): Listener[] {
  return merge([...parse(v4), ...parse(v6)])
}

function parse(table: string): Listener[] {
  const listeners: Listener[] = []
  for (const row of table.split('\n').slice(1)) {
    const [, local, , state] = row.trim().split(/\s+/)
    if (state !== LISTEN || local === undefined) continue
    const [address, port] = local.split(':') as [string, string]
    if (address === ENGINE_RESOLVER) continue
    listeners.push({
      port: Number.parseInt(port, 16),
      host: hostOf(address),
      isLoopback: isLoopback(address),
    })
  }
  return listeners
}

/** Addresses are words in the host's byte order: 127.0.0.1 is 0100007F. */
function isLoopback(address: string): boolean {
  return address.length === 8
    ? address.endsWith('7F')
    : address === LOOPBACK_V6 || /^0{16}F{4}0{4}\w{6}7F$/i.test(address)
}

/** The address in its usual notation, as far as messages need it. */
function hostOf(address: string): string {
  if (address.length === 8) return octets(address)
  if (address === LOOPBACK_V6) return '[::1]'
  return /^0+$/.test(address) ? '[::]' : `[::ffff:${octets(address.slice(-8))}]`
}

function octets(word: string): string {
  return word
    .match(/../g)!
    .reverse()
    .map((octet) => Number.parseInt(octet, 16))
    .join('.')
}

function merge(listeners: Listener[]): Listener[] {
  const byPort = new Map<number, Listener>()
  for (const listener of listeners) {
    const known = byPort.get(listener.port)
    const isLoopback = listener.isLoopback && (known?.isLoopback ?? true)
    byPort.set(listener.port, { ...(known ?? listener), isLoopback })
  }
  return [...byPort.values()].sort((a, b) => a.port - b.port)
}
