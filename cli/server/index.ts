import type { Call } from '../call.ts'
import type { ServerPrograms } from '../index.ts'
import { keptSettings } from './install/settings.ts'

type Load = () => Promise<(call: Call, args: string[]) => Promise<number | void>>

/** The programs of commands that run on the server's host, by the name of the command. */
const PROGRAMS: Readonly<Record<string, Load>> = {
  install: async () => {
    const { install } = await import('./install/install.ts')
    return (_, args) => install(args)
  },
  uninstall: async () => (await import('./install/uninstall.ts')).uninstall,
  status: async () => (await import('./install/status.ts')).status,
  doctor: async () => (await import('./doctor.ts')).doctor,
  stop: async () => (await import('./stop.ts')).stop,
  backup: async () => (await import('./backup.ts')).backup,
  'backup verify': async () => (await import('./backup.ts')).verify,
  restore: async () => (await import('./restore/restore.ts')).restore,
  upgrade: async () => (await import('./upgrade/upgrade.ts')).upgrade,
  'reset-password': async () => (await import('./reset-password.ts')).resetPassword,
  'ssh-key': async () => (await import('./ssh-key.ts')).printSshKey,
  client: async () => (await import('./client.ts')).printClient,
  'token create': async () => (await import('./token.ts')).create,
  'token list': async () => (await import('./token.ts')).list,
  'token revoke': async () => (await import('./token.ts')).revoke,
  'proxy start': async () => (await import('./proxy.ts')).proxy,
  'proxy upgrade': async () => (await import('./proxy.ts')).proxy,
}

/** Programs that do not use the settings which `deployer install` has saved: they change or remove them. */
const WITHOUT_SETTINGS = new Set(['install', 'uninstall'])

/** Loads the program of a command; undefined if it has none here. */
export const loadServerProgram: ServerPrograms['load'] = async (name) => {
  if (!WITHOUT_SETTINGS.has(name)) useKeptSettings()
  return PROGRAMS[name]?.()
}

/** Uses the saved settings, which variables of the environment override. A user who may not read them goes without. */
function useKeptSettings(): void {
  try {
    process.env = { ...keptSettings(), ...process.env }
  } catch {
    // They belong to another user, or are broken: `deployer install` reports that.
  }
}
