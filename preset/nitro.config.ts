import { fileURLToPath } from 'node:url'
import type { NitroPreset } from 'nitropack/types'

/** Nitro's node server with an entry of our own, which starts and stops everything in order. */
const preset: NitroPreset = {
  extends: 'node-server',
  entry: fileURLToPath(new URL('./entry.ts', import.meta.url)),
  // Our own route serves the files: Nitro's understands only one entity tag in a request, and handles no other method.
  serveStatic: false,
}

export default preset
