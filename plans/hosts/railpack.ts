import { isRecord } from '../source/json.ts'
import type { Tree } from '../source/tree.ts'
import {
  at,
  buildOf,
  commandOf,
  commandsOf,
  OWN_COMMANDS,
  readRecord,
  silent,
  startsOf,
  textsIn,
  variablesOf,
  type HostFile,
} from './host-file.ts'

/**
 * Reads Railpack's file (railpack.com, "Configuration File"). Steps other than `build` run before it, except the
 * installation.
 */
export async function railpack(tree: Tree, notes: string[]): Promise<HostFile | null> {
  const file = 'railpack.json'
  const value = await readRecord(tree, file, notes)
  if (value === null) return null
  const steps = isRecord(value.steps) ? value.steps : {}
  const cmds = (name: string): string[] => commandsOf(at(steps, name, 'commands'))
  const building = at(steps, 'build', 'commands') === undefined ? [OWN_COMMANDS] : cmds('build')
  const others = Object.keys(steps).filter((name) => name !== 'install' && name !== 'build')
  const all = [...others.flatMap(cmds).filter((each) => each !== OWN_COMMANDS), ...building]
  const command = commandOf(at(value, 'deploy', 'startCommand'))
  return {
    ...silent(file),
    starts: startsOf(command),
    build: buildOf(all),
    notes: isRecord(value.packages)
      ? [
          `${file} names versions, which are taken from files such as .tool-versions: ${Object.keys(value.packages).slice(0, 10).join(', ')}`,
        ]
      : [],
    installs: cmds('install'),
    aptPackages: [...textsIn(value.buildAptPackages), ...textsIn(at(value, 'deploy', 'aptPackages'))].filter(
      (each) => each !== OWN_COMMANDS,
    ),
    variables: {
      ...variablesOf(at(steps, 'build', 'variables')),
      ...variablesOf(at(value, 'deploy', 'variables')),
    },
  }
}
