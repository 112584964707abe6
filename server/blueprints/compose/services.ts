import { mappingAt, scalarAt, someAt } from '../builder.ts'
import { warn, type Notes } from '../foreign.ts'
import type { Node, ScalarNode } from '../nodes.ts'
import { addressesIn, renameHosts } from './addresses.ts'
import { readBuild } from './build.ts'
import { readCommand } from './commands.ts'
import { known } from './environment.ts'
import type { ComposeProgram } from './file.ts'
import { probeOf, readHealth } from './health.ts'
import { readLimits } from './limits.ts'
import { readGracePeriod } from './grace-period.ts'
import { readListening } from './ports.ts'
import type { Roles } from './roles.ts'
import { staleIn } from './store-uses.ts'
import { UNNEEDED } from './stores.ts'
import { composeVariables } from './variables.ts'

const LEFT_OUT: Record<string, string> = {
  ...UNNEEDED,
  env_file: 'the file is not read: set its variables by hand',
  labels: 'labels are not read; domains are custom_domains here',
  profiles: 'there are no profiles here: the service is always created',
  secrets: 'there are no files of secrets here: give the program their values in variables',
  configs: 'put the files of configs into the image or the repository',
  privileged: 'containers cannot be privileged here',
  user: 'programs run as the user of their image: it is left out',
  links: 'services reach each other by name here: it is left out',
  network_mode: 'containers only have the network of their environment here',
  stop_signal: 'programs are stopped with SIGTERM here: it is left out',
  working_dir:
    'a start_command runs in the working directory of its image: begin it with cd, if it needs another',
  platform: "images run on the server's own platform: it is left out",
}

/** Converts one service of a Compose file. */
export function composeService(program: ComposeProgram, roles: Roles, notes: Notes): Node {
  const { mapping, here } = program
  const { place } = mapping.node
  const probe = probeOf(program)
  const { port, isWeb } = readListening(mapping, roles.called.get(program) ?? probe?.port, notes)
  const listens = port !== undefined || roles.listens(program)
  const build = readBuild(mapping, notes)
  if (!port)
    warn(
      notes,
      mapping.node,
      listens
        ? 'names no port: set one, unless its image exposes exactly one'
        : 'names no port and becomes a background worker: a web service needs one',
    )
  const node = mappingAt(place, {
    name: scalarAt(place, here),
    type: scalarAt(place, isWeb ? 'web_service' : listens ? 'private_service' : 'background_worker'),
    ...(build ?? { image: known(mapping.scalar('image'), notes) }),
    start_command: readStart(program, roles, notes),
    pre_deploy_command: roles.preDeployOf(program),
    port: port && scalarAt(port.node.place, port.number),
    health_check_path: readHealth(mapping, probe, listens ? (port?.number ?? 'unknown') : null, notes),
    ...roles.volumes.disksOf(program, notes),
    ...readLimits(mapping, notes),
    max_shutdown_delay_seconds: readGracePeriod(mapping, notes),
    env: someAt(place, composeVariables(program, roles, notes)),
  })
  mapping.end(LEFT_OUT)
  return node
}

/** The start command, with the names that other services have here. */
function readStart(program: ComposeProgram, roles: Roles, notes: Notes): ScalarNode | undefined {
  const command = readCommand(program.mapping, 'start_command', notes)
  if (!command) return undefined
  const addresses = addressesIn(command.text, roles.file)
  for (const address of addresses) {
    const store = roles.storeOf(address.program)
    if (store)
      warn(
        notes,
        command,
        `points to the datastore ${store.name}, which has its own password: take it from a variable with \${{datastore.${store.name}.url}}`,
      )
  }
  for (const name of staleIn(command.text, addresses, roles))
    warn(notes, command, `names ${name}: change it by hand`)
  return scalarAt(command.place, renameHosts(command.text, addresses, program).text)
}
