import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { defineNitroModule } from 'nitropack/kit'

/** Puts the samples that people can deploy next to the server's program. */
export default defineNitroModule({
  name: 'samples',
  setup(nitro) {
    const { rootDir, output } = nitro.options
    nitro.hooks.hook('compiled', () =>
      cpSync(join(rootDir, 'samples'), join(output.serverDir, 'samples'), { recursive: true }),
    )
  },
})
