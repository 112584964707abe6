/** The obstacle of a framework that is set up for another host only. */
export function foreign(name: string, adapter: string, wanted: string): string {
  return `${name} is set up with ${adapter}, whose output cannot run on this server: use ${wanted}`
}
