import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { splitCredentials } from '#server/git/url.ts'
import { sha256 } from '#server/secrets.ts'
import type { CheckoutUse } from './checkout-limits.ts'
import { withRemote, type Remote, type RemoteAccess } from './git-remote.ts'
import { judgeTree } from './judged-tree.ts'
import { KeptTree, type TreePlace } from './kept-tree.ts'
import { listLfsFiles, type LfsListing } from './lfs.ts'
import { joinPacks } from './mirror.ts'
import { withMirror } from './mirrors.ts'
import { Repository } from './repository.ts'
import { withinSize } from './size-watch.ts'
import { submodulesOf, type Submodule } from './submodules.ts'

/** One repository of a checkout: the one that was asked for, or a submodule. */
export interface Part<Head extends { sha: string }> {
  access: RemoteAccess
  /** The folder of its mirror. */
  mirror: string
  place: TreePlace
  /** Fetches the commit that is wanted into the mirror. Throws BuildFailure or GitError. */
  fetch: (repository: Repository) => Promise<Head>
}

/** What the parts of one checkout share. */
export interface PartContext {
  /** What those before take. */
  used: CheckoutUse
  /** Folders that may not grow beyond a checkout's limit together with the part's mirror. */
  mirrors: string[]
  signal: AbortSignal
  /** Receives lines for the build's log. */
  onLine: (line: string) => void
}

/** A part whose tree is laid out, and what is still to be fetched for it. */
export interface LaidOutPart<Head> extends CheckoutUse {
  head: Head
  submodules: Submodule[]
  lfs: LfsListing | null
}

/** Where is kept what was fetched of a repository with the credentials of one holder. */
export function mirrorOf(mirrors: string, address: string, holder: string): string {
  return join(mirrors, sha256(JSON.stringify([splitCredentials(address).url, holder])))
}

/** Fetches the commit of a part and lays its tree out. Throws BuildFailure and RemoteFault. */
export function layOutPart<Head extends { sha: string }>(
  { access, mirror, place, fetch }: Part<Head>,
  { used, mirrors, signal, onLine }: PartContext,
): Promise<LaidOutPart<Head>> {
  const work = async (remote: Remote): Promise<LaidOutPart<Head>> => {
    const repository = new Repository(mirror, remote)
    if (!existsSync(mirror)) await repository.make()
    const head = await fetch(repository)
    const judged = await judgeTree(repository, head.sha, used)
    const tree = new KeptTree(repository)
    await tree.layOut(judged, place)
    const submodules = await submodulesOf(repository, judged, place.folder)
    const lfs = await listLfsFiles(repository, tree, judged)
    await joinPacks(repository)
    return { head, submodules, lfs, bytes: judged.bytes, files: judged.files }
  }
  return withMirror({
    directory: mirror,
    signal,
    onLine,
    work: () => withinSize([...mirrors, mirror], signal, (limited) => withRemote(access, limited, work)),
  })
}
