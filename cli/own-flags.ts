import { FLAGS, parseWords, type FlagName } from '#server/options/flags.ts'
import { readOptions, type Options } from '#server/options/index.ts'

/**
 * Reads the flags of a command other than `serve` and `install`: the server's data directory, the `settings` that matter to
 * the command, and its own `switches`. Faults in the server's other settings are ignored. Throws `invalid_request` for any
 * other word.
 */
export function readOwnFlags(
  command: string,
  argv: string[],
  { settings = [], switches = [] }: { settings?: FlagName[]; switches?: string[] } = {},
): { options: Options; switches: Set<string> } {
  const names: FlagName[] = ['data-dir', ...settings]
  const words = parseWords(command, argv, { texts: names, switches })
  const flags = Object.entries(words.texts).map(([name, text]) => `--${name}=${text}`)
  const variables = [...names.map((name) => FLAGS[name].variable), 'XDG_DATA_HOME']
  const environment = Object.fromEntries(variables.map((variable) => [variable, process.env[variable]]))
  return { options: readOptions(flags, environment), switches: words.switches }
}
