import { fileURLToPath } from 'node:url'
import type { NitroPreset } from 'nitropack/types'

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/**
 * What the command line needs before it has read its words. Rollup would put it into Nitro's chunk, which takes several times
 * as long to load as node itself.
 */
const BEFORE_WORDS = ['../server/errors.ts', '../server/options/flags.ts'].map(at)

/** Nitro's node server with an entry of our own, which starts and stops everything in order. */
const preset: NitroPreset = {
  extends: 'node-server',
  entry: at('./entry.ts'),
  // Our own route serves the files: Nitro's understands only one entity tag in a request, and handles no other method.
  serveStatic: false,
  rollupConfig: {
    output: {
      manualChunks: (id) => {
        if (BEFORE_WORDS.includes(id)) return 'before-words'
        if (id === at('../server/version.ts')) return 'version'
        // As Nitro itself has it.
        return id.includes('/nitropack/dist/runtime/') ? 'nitro' : undefined
      },
    },
  },
}

export default preset
