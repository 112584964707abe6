import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline, type Readable } from 'node:stream'
import { extract, type Header } from 'tar-stream'
import { BuildFailure } from '#plans/index.ts'
import { EntryRules } from '../sources/archive-entries.ts'
import { TreeWriter } from '../sources/tree-writer.ts'
import { finishSite } from './finish.ts'
import type { FinishedSite, LiftedFolder } from './reader-calls.ts'

/** The maximum size of a published folder: as much as an uploaded archive may unpack to. */
const MAX_BYTES = 4 * 1024 ** 3

/**
 * Writes the folder `top` of a tar archive to the `files` of `folder`, and prepares them for serving. Throws BuildFailure
 * when `top` is not a folder, or contains anything but files and folders.
 */
export async function unpackFolder(
  { top, folder, singlePage }: LiftedFolder,
  tar: Readable,
): Promise<FinishedSite> {
  const directory = join(folder, 'files')
  mkdirSync(directory)
  const rules = new EntryRules()
  const tree = new TreeWriter(directory)
  let bytes = 0
  // `pipe` would not pass on a failure, nor the end of a connection that is cut.
  for await (const content of pipeline(tar, extract(), () => {})) {
    const { header } = content
    if (header.name.replace(/\/$/, '') === top && header.type !== 'directory')
      throw new BuildFailure(`publish_dir is ${describe(header)}, not a folder: correct it`)
    const entry = rules.judge(below(header, top))
    bytes += header.size ?? 0
    if (bytes > MAX_BYTES)
      throw new BuildFailure(`the published folder is larger than ${MAX_BYTES / 1024 ** 3} GiB: publish less`)
    if (entry?.kind === 'symlink')
      throw new BuildFailure(
        `the published folder contains ${JSON.stringify(entry.path)}, which is a link: only files and folders can be published`,
      )
    if (entry) await tree.write(entry, content)
    else content.resume()
  }
  return finishSite(folder, singlePage)
}

/** The engine puts the folder's own name before every entry. */
function below(header: Header, top: string): Header {
  const cut = (name: string) =>
    name === top || name.startsWith(`${top}/`) ? name.slice(top.length + 1) : name
  return {
    ...header,
    name: cut(header.name),
    ...(header.type === 'link' && header.linkname ? { linkname: cut(header.linkname) } : {}),
  }
}

function describe(header: Header): string {
  return header.type === 'symlink' ? 'a link' : 'a file'
}
