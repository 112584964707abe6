import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Rules } from '../../../cli/client/pack/rules.ts'
import { dockerfileOf, type BuildSettings } from '../../../cli/client/pack/dockerfile.ts'
import type { Contents } from '../../../cli/client/pack/entries.ts'
import { walk } from '../../../cli/client/pack/walk.ts'

/** A new folder with files; removed by `using`. */
export function folderOf(files: Record<string, string>): Disposable & { path: string } {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'pack-')))
  for (const [name, content] of Object.entries(files)) write(path, name, content)
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}

export function write(folder: string, name: string, content: string): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true })
  writeFileSync(join(folder, name), content)
}

const SETTINGS: BuildSettings = {
  type: 'web_service',
  runtime: 'auto',
  root_dir: null,
  dockerfile_path: null,
}

/** What is in a folder by its rules. */
export function contentsOf(
  folder: string,
  { withGit = true, ...settings }: Partial<BuildSettings> & { withGit?: boolean } = {},
): Promise<Contents> {
  const dockerfile = dockerfileOf(folder, { ...SETTINGS, ...settings })
  return walk(folder, new Rules(folder, { withGit, dockerfile }))
}

/** The files and links that are packed. */
export async function filesOf(
  folder: string,
  settings: Parameters<typeof contentsOf>[1] = {},
): Promise<string[]> {
  const { entries } = await contentsOf(folder, settings)
  return [...entries].filter(({ kind }) => kind !== 'folder').map(({ path }) => path)
}
