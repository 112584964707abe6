import { readFileSync } from 'node:fs'

/** Where `deployer install` saves the settings of the service, one variable per line (systemd.exec(5)). */
export const SETTINGS_FOLDER = '/etc/deployer'
export const SETTINGS_FILE = `${SETTINGS_FOLDER}/deployer.env`

/**
 * The text of the settings that `deployer install` saved for the server of this data directory; null when it is not
 * installed, or this user may not read them.
 */
export function savedSettings(dataDirectory: string): string | null {
  try {
    const text = readFileSync(SETTINGS_FILE, 'utf8')
    const [, itsDirectory = '/var/lib/deployer'] = /^DEPLOYER_DATA_DIR="?([^"\n]*)"?$/m.exec(text) ?? []
    return itsDirectory === dataDirectory ? text : null
  } catch {
    return null
  }
}
