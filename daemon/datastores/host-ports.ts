import { announceDatastore } from '#server/changes.ts'
import { KINDS } from '#server/datastores/kinds.ts'
import { allDatastores, recordDatastore, type DatastoreRow } from '#server/datastores/store.ts'
import { LOOPBACK } from '#server/datastores/view.ts'
import { messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import { Forward, type Target } from './forward.ts'
import { freePorts } from './free-ports.ts'
import { homeOf, isElsewhere } from './home.ts'

const log = logger('datastores')

/**
 * The ports of this host's loopback that lead to datastores on other nodes. The engine publishes those of datastores on the
 * server's own node.
 */
export class HostPorts {
  readonly #forwards = new Map<number, Forward>()
  #isStopped = false

  /** Listens where datastores on other nodes are reached, and no longer where none is. */
  sync(): void {
    if (this.#isStopped) return
    const wanted = new Map<number, { row: DatastoreRow; target: Target }>()
    for (const row of allDatastores())
      for (const [port, target] of targetsOf(row)) wanted.set(port, { row, target })
    for (const [port, forward] of this.#forwards)
      if (!wanted.has(port)) {
        forward.close()
        this.#forwards.delete(port)
      }
    for (const [port, { row, target }] of wanted) {
      const forward = this.#forwards.get(port)
      if (forward) forward.target = target
      else this.#open(row, port, target)
    }
  }

  stop(): void {
    this.#isStopped = true
    for (const forward of this.#forwards.values()) forward.close()
  }

  #open(row: DatastoreRow, port: number, target: Target): void {
    const onFault = (error: Error): void => {
      this.#forwards.get(port)?.close()
      this.#forwards.delete(port)
      log.warn("a datastore's port on this host cannot be used; taking another one", {
        datastore: row.id,
        port,
        error: messageOf(error),
      })
      void changePorts(row).catch((fault: unknown) =>
        log.warn('no port of this host leads to a datastore', { datastore: row.id, error: messageOf(fault) }),
      )
    }
    this.#forwards.set(port, new Forward({ host: LOOPBACK, port }, target, onFault))
  }
}

/** Where the ports of a datastore on another node lead; none for one that the engine here publishes. */
function targetsOf(row: DatastoreRow): [port: number, target: Target][] {
  const host = isElsewhere(row) && row.status !== 'deleting' ? homeOf(row) : null
  if (host === null || row.host_port === null) return []
  const { port, tlsPort } = KINDS[row.kind]
  const targets: [number, Target][] = [[row.host_port, { host, port }]]
  if (row.host_tls_port !== null && row.host_tls_port !== row.host_port)
    targets.push([row.host_tls_port, { host, port: tlsPort }])
  return targets
}

/** Gives a datastore other ports, because another program has taken one while the server was down. */
async function changePorts({ id, host_port, host_tls_port }: DatastoreRow): Promise<void> {
  const [port, portForTls] = await freePorts()
  const tls = host_tls_port === host_port ? port : portForTls
  recordDatastore(id, { host_port: port, host_tls_port: host_tls_port && tls })
  announceDatastore(id)
}
