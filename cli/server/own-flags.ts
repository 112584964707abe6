import { FLAGS, type FlagName } from '#server/options/flags.ts'
import { readOptions, type Options } from '#server/options/index.ts'
import type { Call } from '../call.ts'

/**
 * The options that a command other than `serve` and `install` was called with: the server's data directory, and the settings
 * among its own flags. Faults in the server's other settings are ignored.
 */
export function optionsOf(call: Call): Options {
  const names = (call.command.flags ?? [])
    .map(({ name }) => name)
    .filter((name): name is FlagName => name in FLAGS)
  const given = names.filter((name) => call.has(name))
  const variables = [...names.map((name) => FLAGS[name].variable), 'XDG_DATA_HOME']
  const environment = Object.fromEntries(variables.map((variable) => [variable, process.env[variable]]))
  return readOptions(
    given.map((name) => `--${name}=${call.text(name)}`),
    environment,
  )
}
