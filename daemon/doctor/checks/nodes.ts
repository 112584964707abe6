import { entryFault } from '#server/nodes/entry-faults.ts'
import { managerFaults, type ManagerFault } from '#server/nodes/managers.ts'
import { listNodes, nodeName, type NodeRow } from '#server/nodes/store.ts'
import { wayFault } from '../../environments/overlays.ts'
import { failed, passed, skipped, warning, worstOf, type Check, type Verdict } from '../check.ts'

/** The first version with the engine's repairs to networks across machines. */
const GOOD_MAJOR = 25

const ENTRY =
  'The server tries again by itself. A port that is taken must be freed; deployer node entry --off ends it.'
const LOOK = 'deployer node check shows what is closed between which machines.'

export const nodes: Check = {
  id: 'nodes',
  title: 'Nodes',
  needs: 'records',
  fix: LOOK,
  look() {
    const all = listNodes()
    if (all.length === 1) return skipped('the server has one node, its own')
    const fault = wayFault()
    return worstOf([
      ...all.map(verdictOn),
      ...managerFaults().map(verdictOnManager),
      ...all.flatMap(({ id, name }) => {
        const fault = entryFault(id)
        return fault === null ? [] : [warning(`${name}: ${fault}`, ENTRY)]
      }),
      ...(fault === null ? [] : [warning(fault, 'Do what it says; the server tries again by itself.')]),
    ])
  },
}

function verdictOnManager({ nodeId, message, fix, isSilent }: ManagerFault): Verdict {
  return isSilent ? failed(message, fix) : warning(`${nodeName(nodeId)}: ${message}`, fix)
}

function verdictOn({ name, status, reason, engine_version: version }: NodeRow): Verdict {
  if (status !== 'ready') return warning(`${name} is ${status}${reason === null ? '' : `: ${reason}`}`, LOOK)
  if (reason !== null)
    return warning(
      `${name}: ${reason}`,
      `Install nftables or iptables on ${name}, or have it reject what its containers send to 169.254.0.0/16.`,
    )
  if (version !== null && Number.parseInt(version, 10) < GOOD_MAJOR)
    return warning(
      `${name} has Docker ${version}: before ${GOOD_MAJOR}, networks across machines can keep addresses of containers that are gone, so that one is not reached until it is started again`,
      `Update Docker on ${name} to ${GOOD_MAJOR} or newer, one machine after another.`,
    )
  return passed(`${name} is ready`)
}
