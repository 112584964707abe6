import { readFile } from 'node:fs/promises'

/** A TCP socket that a container's processes listen on. */
export interface Listener {
  port: number
  /** As a URL has it: `127.0.0.1`, `[::1]`; of the first socket where several share the port. */
  host: string
  /** Whether it can only be reached from inside the container. */
  isLoopback: boolean
}

/** `st` of a listening socket in /proc/net/tcp (Linux, include/net/tcp_states.h). */
const LISTEN = '0A'
/** Where the engine's own name server sits in every container of a user's network: 127.0.0.11, as /proc/net/tcp writes it. */
const ENGINE_RESOLVER = '0B00007F'
const LOOPBACK_V6 = '00000000000000000000000001000000'

/**
 * What listens in the network of a container whose first process is `pid`, in the order of the ports; null when that
 * process cannot be seen from here (an engine in a virtual machine, another user's).
 */
export async function listenersOf(pid: number, containerId: string): Promise<Listener[] | null> {
  try {
    // A process of that number that is not the container's would be one of an engine that runs elsewhere.
    if (!(await readFile(`/proc/${pid}/cgroup`, 'utf8')).includes(containerId)) return null
    const v4 = await readFile(`/proc/${pid}/net/tcp`, 'utf8')
    const v6 = await readFile(`/proc/${pid}/net/tcp6`, 'utf8').catch(() => '')
    return listenersIn(v4, v6)
  } catch {
    return null
  }
}

/** What listens by the tables /proc/[pid]/net/tcp and tcp6 (proc_pid_net(5)), in the order of the ports. */
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

/** Addresses are words of the host's byte order: 127.0.0.1 is 0100007F. */
function isLoopback(address: string): boolean {
  return address.length === 8
    ? address.endsWith('7F')
    : address === LOOPBACK_V6 || /^0{16}F{4}0{4}\w{6}7F$/i.test(address)
}

/** The address as it is written, as far as a message needs it. */
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
