import type { Server } from 'node:https'
import { listenAddress } from '#agent/listen-address.ts'
import type { Identity } from '#agent/protocol.ts'
import { useContext } from '#server/context.ts'
import { AppError } from '#server/errors.ts'
import { getNode } from '#server/nodes/store.ts'
import { endOf, isEndingAt, serverIdentity } from './authority.ts'
import { nodesFolder } from './links.ts'
import { openListener, type ListenerParts } from './listener.ts'

/** Where the server's nodes reach it, and what it shows to them. */
export class Entrance {
  readonly #parts: Omit<ListenerParts, 'mayPull' | 'isNode'>
  /** The repositories that each node may pull from now, once for each pull. */
  readonly #pulls: { nodeId: string; repository: string }[] = []
  #listener: Server | null = null
  #identity: Identity | null = null

  constructor(parts: Omit<ListenerParts, 'mayPull' | 'isNode'>) {
    this.#parts = parts
  }

  /** Listens, unless it does already. Returns the identity that is shown now. Throws `conflict` when the port is taken. */
  async open(address: string): Promise<Identity> {
    if (this.#identity && isEndingAt(endOf(this.#identity.certificate))) this.close()
    if (this.#identity) return this.#identity
    const { nodePort: port } = useContext().options
    const identity = await serverIdentity(nodesFolder())
    const parts: ListenerParts = {
      ...this.#parts,
      isNode: (nodeId) => getNode(nodeId)?.is_own === 0,
      // Only what the server itself has asked the node's engine to pull, while it does.
      mayPull: (nodeId, repository) =>
        this.#pulls.some((pull) => pull.nodeId === nodeId && pull.repository === repository),
    }
    try {
      this.#listener = await openListener({ host: listenAddress(address), port }, identity, parts)
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw cause
      throw new AppError('conflict', `another program listens at port ${port}: end it, or set --node-port`, {
        cause,
      })
    }
    this.#identity = identity
    return identity
  }

  /** Lets a node pull from a repository while `work` does so. */
  async during<T>(nodeId: string, repository: string, work: () => Promise<T>): Promise<T> {
    const pull = { nodeId, repository }
    this.#pulls.push(pull)
    try {
      return await work()
    } finally {
      this.#pulls.splice(this.#pulls.indexOf(pull), 1)
    }
  }

  close(): void {
    this.#listener?.close()
    this.#listener?.closeAllConnections()
    this.#listener = null
    this.#identity = null
  }
}
