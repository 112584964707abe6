import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { findProgram } from '../packages.ts'
import { base } from './base.ts'
import type { Recipe } from './index.ts'
import { build } from './languages.ts'

/** Debian's registry, under the program's name in the official image. */
export const distribution: Recipe = {
  tags: ['registry:3'],
  from: base,
  text: 'FROM debian:bookworm-slim\nCOPY registry /bin/registry\nVOLUME /var/lib/registry\nENTRYPOINT ["registry"]\n',
  make: async (folder, text) => {
    copyFileSync(findProgram('docker-registry')!, join(folder, 'registry'))
    await build(folder, text, distribution.tags[0]!)
  },
}
