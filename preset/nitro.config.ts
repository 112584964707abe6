import { fileURLToPath } from 'node:url'
import type { NitroPreset } from 'nitropack/types'

/** Nitro's node server with an entry of our own, which starts and stops everything in order. */
const preset: NitroPreset = {
  extends: 'node-server',
  entry: fileURLToPath(new URL('./entry.ts', import.meta.url)),
  // A route of our own does: Nitro's knows one entity tag a request, and answers no other method.
  serveStatic: false,
}

export default preset
