import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withLock } from './lock.ts'
import { standFolder } from './place.ts'
import { run, say } from './run.ts'

/** The programs of Debian's package `prometheus`. */
export interface Prometheus {
  prometheus: string
  promtool: string
}

/**
 * Fetches Prometheus, as Debian packages it, if it is missing. It is unpacked and not installed: the package would start
 * its own server. Throws one line that says what failed.
 */
export async function ensurePrometheus(): Promise<Prometheus> {
  const folder = standFolder('prometheus')
  const done = join(folder, 'unpacked')
  await withLock('prometheus', async () => {
    if (existsSync(done)) return
    say('fetching prometheus')
    const parts = join(folder, 'parts')
    rmSync(parts, { recursive: true, force: true })
    mkdirSync(parts)
    await download(parts)
    const [archive] = readdirSync(parts).filter((name) => name.endsWith('.deb'))
    await run('dpkg-deb', ['-x', join(parts, archive!), folder])
    rmSync(parts, { recursive: true })
    writeFileSync(done, '')
  })
  return { prometheus: join(folder, 'usr/bin/prometheus'), promtool: join(folder, 'usr/bin/promtool') }
}

async function download(folder: string): Promise<void> {
  const fetch = () => run('apt-get', ['download', '-qq', 'prometheus'], { cwd: folder })
  try {
    await fetch()
  } catch {
    // A bare machine has no package lists yet.
    await run('apt-get', ['update', '-qq'])
    await fetch()
  }
}
