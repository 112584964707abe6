/** Names of the program that serves, where a source has several. */
const USUAL_NAMES = ['server', 'web', 'api', 'app']

/** Of more programs, as a collection of examples has them, a usual name makes none the one that is meant. */
const MAX_USUAL = 10

/** The program to start among several: the only one, else the one with the project's own name or a usual one; null where none stands out. */
export function onlyProgram(names: readonly string[], own: string | undefined): string | null {
  if (names.length === 1) return names[0]!
  const usual = names.length > MAX_USUAL ? [] : USUAL_NAMES
  return [own, ...usual].find((name) => name !== undefined && names.includes(name)) ?? null
}
