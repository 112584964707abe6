import { arch, hostname } from 'node:os'
import { freeNodeName } from './names.ts'
import { getNode, ownNodeId, updateNode } from './store.ts'

/** Engines say architectures in the words of Go. */
const ARCHITECTURES: Record<string, string> = { x64: 'amd64', ia32: '386' }

/** Gives the server's own node the name of its host, unless it has one. */
export function ensureOwnNode(): void {
  const own = getNode(ownNodeId())!
  const architecture = ARCHITECTURES[arch()] ?? arch()
  updateNode(own.id, { architecture, ...(own.name === '' ? { name: freeNodeName(hostname()) } : {}) })
}

/** Records what the server's own engine says of itself. */
export function recordOwnEngine(engine: { version: string; cpus: number; memoryBytes: number }): void {
  const { version, cpus, memoryBytes } = engine
  updateNode(ownNodeId(), { engine_version: version, cpus, memory_bytes: memoryBytes })
}
