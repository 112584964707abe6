import type { Tree } from '../../sources/tree.ts'
import type { PlanSettings } from './plan.ts'

/** The command of this service's line in the tree's `Procfile`, or null. Notes say what of the file is not used. */
export async function procfileCommand(
  tree: Tree,
  settings: PlanSettings,
  notes: string[],
): Promise<string | null> {
  const text = await tree.readText('Procfile')
  if (text === null) return null
  const lines = [...text.matchAll(/^([A-Za-z0-9_-]+):[ \t]*(\S.*?)[ \t]*\r?$/gm)]
  const commands = new Map(lines.map(([, name, command]) => [name!, command!]))
  const type = settings.processType ?? 'web'
  const command = commands.get(type) ?? null
  if (command === null) notes.push(`the Procfile has no line "${type}:"`)
  else notes.push(`starting with the line "${type}:" of the Procfile`)
  if (commands.has('release'))
    notes.push('the line "release:" of the Procfile is not run: set pre_deploy_command to it')
  return command
}
