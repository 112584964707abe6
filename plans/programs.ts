/** Usual names of the program that serves, where a source has several. */
const USUAL_NAMES = ['server', 'web', 'api', 'app']

/**
 * Returns the program to start among several: the only one, else the one with the name of the project or a usual name; null
 * where none stands out.
 */
export function onlyProgram(names: readonly string[], own: string | undefined): string | null {
  if (names.length === 1) return names[0]!
  return [own, ...USUAL_NAMES].find((name) => name !== undefined && names.includes(name)) ?? null
}
