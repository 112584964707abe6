import { join } from 'node:path'
import type { Identity } from '#agent/protocol.ts'
import { useContext, useDatabase } from '#server/context.ts'
import { ledgerOf } from '#server/ledger.ts'
import type { NodeRow } from '#server/nodes/store.ts'
import { createEngine, type Engine } from '../engine/index.ts'
import { nameOfNode } from './presence.ts'
import { Tunnel } from './tunnel.ts'

interface Link {
  tunnel: Tunnel
  engine: Engine
}

/** Where the server keeps what belongs to its nodes. */
export function nodesFolder(): string {
  return join(useContext().options.dataDirectory, 'nodes')
}

/** The tunnels to other nodes, and their engines at the end of each. */
export class Links {
  readonly #links = new Map<string, Link & { address: string; identity: Identity }>()
  readonly #onMove: () => void

  /** `onMove` is called when a tunnel dies or comes to life. */
  constructor(onMove: () => void) {
    this.#onMove = onMove
  }

  get(nodeId: string): Link | undefined {
    return this.#links.get(nodeId)
  }

  /** The link to a node, which is made again when the node has another address or the server another certificate. */
  provide({ id, address }: Pick<NodeRow, 'id'> & { address: string }, identity: Identity): Link {
    const known = this.#links.get(id)
    if (known?.address === address && known.identity === identity) return known
    known?.tunnel.close()
    const { options, serverId, vault } = useContext()
    const tunnel = new Tunnel(
      nodesFolder(),
      { nodeId: id, host: address, port: options.nodePort, identity },
      this.#onMove,
    )
    const engine =
      known?.engine ??
      createEngine({
        dockerHost: `unix://${tunnel.socketPath}`,
        nodeName: () => nameOfNode(id),
        serverId,
        ledger: ledgerOf(useDatabase, () => vault, id),
      })
    const link = { tunnel, engine, address, identity }
    this.#links.set(id, link)
    return link
  }

  drop(nodeId: string): void {
    this.#links.get(nodeId)?.tunnel.close()
    this.#links.delete(nodeId)
  }

  close(): void {
    for (const nodeId of [...this.#links.keys()]) this.drop(nodeId)
  }
}
