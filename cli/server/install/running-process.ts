import { readFileSync } from 'node:fs'
import { DNS_PROVIDER_VARIABLES } from '#server/options/dns-provider.ts'
import { FLAGS } from '#server/options/flags.ts'
import type { Release } from './release.ts'
import type { Settings } from './settings.ts'

/**
 * Whether the control plane's process runs this release with exactly these settings (proc_pid_cmdline(5),
 * proc_pid_environ(5)).
 */
export function runsAs(pid: number | null, { node, entry }: Release, settings: Settings): boolean {
  if (pid === null) return false
  try {
    const [program, file] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
    if (program !== node || file !== entry) return false
    const has = environmentOf(pid)
    const variables = [...Object.values(FLAGS).map(({ variable }) => variable), ...DNS_PROVIDER_VARIABLES]
    return [...variables, ...Object.keys(settings)].every(
      (name) => (has[name] ?? '') === (settings[name] ?? ''),
    )
  } catch {
    // The process has just ended.
    return false
  }
}

/** The environment that a process was started with. */
export function environmentOf(pid: number): Settings {
  const words = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').filter(Boolean)
  return Object.fromEntries(
    words.map((word) => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)]),
  )
}
