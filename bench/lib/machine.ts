import { readFileSync } from 'node:fs'
import { availableParallelism, cpus, release, totalmem } from 'node:os'

/** Describes the machine in one line: processor, cores, memory, system. */
export function describeMachine(): string {
  const system = /^PRETTY_NAME="(.*)"$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? 'Linux'
  const memory = `${(totalmem() / 1024 ** 3).toFixed(0)} GiB`
  return `${cpus()[0]?.model ?? 'unknown processor'}, ${availableParallelism()} cores, ${memory}; ${system}, kernel ${release()}`
}
