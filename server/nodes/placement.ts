import { allows, type Placement } from './placement-setting.ts'
import type { NodeRow } from './store.ts'

/** A node, and what is on it. */
export interface Candidate {
  node: Pick<NodeRow, 'id' | 'name' | 'labels' | 'status' | 'availability' | 'architecture' | 'memory_bytes'>
  /** The instances of the same deploy. */
  ofDeploy: number
  /** All instances. */
  instances: number
  /** The memory that is kept for what is there. */
  reservedMb: number
}

/** What is to be placed. */
export interface Asked {
  /** Its limit, half of which is kept for it: few programs use all that they may. */
  memoryMb: number
  /** What its image is built for, in Go's words; null for any. */
  architecture: string | null
}

const MIB = 1024 * 1024
const RESERVED_PART = 0.5

/** What `uname` says of machines, in the words of images. */
const ARCHITECTURES: Record<string, string> = {
  x86_64: 'amd64',
  aarch64: 'arm64',
  armv7l: 'arm',
  i686: '386',
}

/** How much of a memory limit is kept for what has it. */
export function reservedMb(limitMb: number): number {
  return Math.ceil(limitMb * RESERVED_PART)
}

/**
 * Chooses the node for one more instance of a deploy. Spread over nodes: that with the fewest of the deploy, then the fewest
 * of all, then the most free memory; packed: that with the most of the deploy. What nothing takes is told by a fault that says
 * what was asked for, and why each node does not do.
 */
export function chooseNode(
  placement: Placement | null,
  asked: Asked,
  candidates: readonly Candidate[],
): Candidate['node'] | { fault: string } {
  const reasons = candidates.map((each) => reasonAgainst(placement, asked, each))
  const fitting = candidates.filter((_, index) => reasons[index] === null)
  const [best] = fitting.toSorted((left, right) => compare(placement?.spread ?? true, left, right))
  if (best) return best.node
  const against = candidates.map(({ node }, index) => `${node.name} ${reasons[index]}`)
  return { fault: `no node takes an instance that needs ${wish(placement, asked)}: ${against.join('; ')}` }
}

function compare(spread: boolean, left: Candidate, right: Candidate): number {
  const byDeploy = left.ofDeploy - right.ofDeploy
  return (
    (spread ? byDeploy : -byDeploy) ||
    (spread ? left.instances - right.instances : right.instances - left.instances) ||
    (freeMb(right) ?? 0) - (freeMb(left) ?? 0)
  )
}

/** Why a node does not do, after its name; null if it does. */
function reasonAgainst(
  placement: Placement | null,
  { memoryMb, architecture }: Asked,
  candidate: Candidate,
): string | null {
  const { node } = candidate
  const own = node.architecture === null ? null : (ARCHITECTURES[node.architecture] ?? node.architecture)
  const free = freeMb(candidate)
  if (!allows(placement, node)) return 'is not among its nodes'
  if (node.status !== 'ready') return `is ${node.status}`
  if (node.availability !== 'active') return 'is being drained'
  if (architecture !== null && own !== null && architecture !== own)
    return `is ${own}, and its image is for ${architecture}`
  if (free !== null && free < reservedMb(memoryMb)) return `has ${Math.max(0, free)} MiB free`
  return null
}

/** The memory that nothing is kept for; null if the node has not told how much it has. */
function freeMb({ node, reservedMb: reserved }: Candidate): number | null {
  return node.memory_bytes === null ? null : Math.floor(node.memory_bytes / MIB) - reserved
}

function wish(placement: Placement | null, { memoryMb }: Asked): string {
  const labels = Object.entries(placement?.labels ?? {}).map(([label, value]) => `${label}=${value}`)
  const memory = `${reservedMb(memoryMb)} MiB (half of its limit)`
  return labels.length === 0 ? memory : `${memory} and ${labels.join(', ')}`
}
