export { SETTINGS_FILE, SETTINGS_FOLDER } from '#server/options/saved-settings.ts'

/** The files and folders of an installation, after systemd.unit(5) and the Filesystem Hierarchy Standard. */
export const UNIT_FOLDER = '/etc/systemd/system'
export const PROGRAM_FOLDER = '/usr/local/lib/deployer'
export const COMMAND_FILE = '/usr/local/bin/deployer'

export const CONTROL_UNIT = 'deployer.service'
export const DATA_UNIT = 'deployer-proxy.service'
