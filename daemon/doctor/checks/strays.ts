import { ownNodeId } from '#server/nodes/store.ts'
import { answerOf, nameOfNode } from '../../nodes/presence.ts'
import { listed, passed, skipped, warning, type Check } from '../check.ts'
import type { Stray } from '../../engine/index.ts'
import type { Facts } from '../facts.ts'

/** Less than a check may take, so that the other nodes are told. */
const ANSWER_MS = 2_000

/** A stray, and the node that it is on if it is not the server's own. */
type Found = Stray & { node: string | null }

export const strays: Check = {
  id: 'strays',
  title: 'Strays',
  needs: 'records',
  fix: 'Look at the engine first.',
  async look(facts, signal) {
    if (!(await facts.engineInfoIfAny())) return skipped('the engine does not answer')
    const { found, silent } = await lookEverywhere(facts, signal)
    const unseen = silent.length === 0 ? '' : `; ${silent.join(', ')} did not answer`
    if (found.length === 0)
      return passed(
        `every container, volume and network with the label of this server is in its records${unseen}`,
      )
    const names = listed(
      found.map(({ kind, name, node }) => `the ${kind} ${name}${node === null ? '' : ` on ${node}`}`),
    )
    return warning(
      `${names} ${found.length === 1 ? 'has' : 'have'} the label of this server, but ${found.length === 1 ? 'is' : 'are'} not in its records${unseen}`,
      `They may be newer than a backup that was restored: see what is in them, then ${removals(found)}. The server leaves them alone.`,
    )
  },
}

/** Looks on every node that can be asked; `silent` are those that did not answer in time. */
async function lookEverywhere(
  { engine, world }: Facts,
  signal: AbortSignal,
): Promise<{ found: Found[]; silent: string[] }> {
  const others = (world?.engines() ?? []).filter(({ nodeId }) => nodeId !== ownNodeId())
  const silent: string[] = []
  const [own, ...found] = await Promise.all([
    engine.strays(signal),
    ...others.map(async (other): Promise<Found[]> => {
      const node = nameOfNode(other.nodeId)
      try {
        const strays = await answerOf(other.nodeId, other.engine.strays(signal), ANSWER_MS)
        // All networks there are of the swarm, which the own engine has.
        return strays.filter(({ kind }) => kind !== 'network').map((stray) => ({ ...stray, node }))
      } catch {
        silent.push(node)
        return []
      }
    }),
  ])
  return { found: [...own.map((stray) => ({ ...stray, node: null })), ...found.flat()], silent }
}

/** The commands that remove them, node by node. */
function removals(found: readonly Found[]): string {
  return [...Map.groupBy(found, ({ node }) => node)]
    .map(([node, its]) => `${node === null ? '' : `on ${node}: `}${removalsOf(its)}`)
    .join('; ')
}

/** The commands for one node: containers first, which use the others. */
function removalsOf(found: readonly Stray[]): string {
  const order = {
    container: 'docker rm -f',
    network: 'docker network rm',
    volume: 'docker volume rm',
  } as const
  return (Object.keys(order) as Stray['kind'][])
    .flatMap((kind) => {
      const names = found.filter((stray) => stray.kind === kind).map(({ name }) => name)
      return names.length === 0 ? [] : [`${order[kind]} ${names.slice(0, 3).join(' ')}`]
    })
    .join('; ')
}
