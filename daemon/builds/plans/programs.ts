/** Names of the program that serves, where a source has several. */
const USUAL_NAMES = ['server', 'web', 'api', 'app']

/** Programs that fill or change a database, and end. */
const OF_DATABASES = /^(?:db[-_]?)?(?:seeds?|seeder|migrat(?:e|or|ions?))$/

/**
 * The program to start among several: the only one, else the one with the project's own name or a usual one, else the only one
 * that is not for the database alone; null where none stands out.
 */
export function onlyProgram(names: readonly string[], own: string | undefined): string | null {
  if (names.length === 1) return names[0]!
  const usual = [own, ...USUAL_NAMES].find((name) => name !== undefined && names.includes(name))
  const lasting = names.filter((name) => !OF_DATABASES.test(name))
  return usual ?? (lasting.length === 1 ? lasting[0]! : null)
}
