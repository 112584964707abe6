import { fileURLToPath } from 'node:url'
import type { NitroPreset } from 'nitropack/types'

/** Nitro's node server with an entry of our own, which starts and stops everything in order. */
const preset: NitroPreset = {
  extends: 'node-server',
  entry: fileURLToPath(new URL('./entry.ts', import.meta.url)),
}

export default preset
