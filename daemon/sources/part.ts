import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { splitCredentials } from '#server/git/url.ts'
import { sha256 } from '#server/secrets.ts'
import type { CheckoutUse } from './checkout-limits.ts'
import { withRemote, type Remote, type RemoteAccess } from './git-remote.ts'
import { judgeTree, useOf } from './judged-tree.ts'
import { KeptTree, sizeOfKeptTree, type TreePlace } from './kept-tree.ts'
import { listLfsFiles, type LfsListing } from './lfs.ts'
import { joinPacks, sizeOfMirror } from './mirror.ts'
import { withMirror } from './mirrors.ts'
import { Repository } from './repository.ts'
import { withinSize } from './size-watch.ts'
import { submodulesOf, type Submodule } from './submodules.ts'

/** One repository of a checkout: the main one, or a submodule. */
export interface Part<Head extends { sha: string }> {
  access: RemoteAccess
  /** Identifies the owner of its credentials. */
  holder: string
  /** The folder of its mirror. */
  mirror: string
  place: TreePlace
  /** Fetches the wanted commit into the mirror. Throws BuildFailure or GitError. */
  fetch: (repository: Repository) => Promise<Head>
}

/** What the parts of one checkout share. */
export interface PartContext {
  /** The disk usage of the trees before. */
  used: CheckoutUse
  /** The disk usage that the parts before added to their mirrors. */
  added: CheckoutUse
  /** Whether kept trees are used. */
  usesKeptTrees: boolean
  signal: AbortSignal
  /** Receives lines for the build's log. */
  onLine: (line: string) => void
}

/** A part whose tree was written, and what still has to be fetched for it. */
export interface LaidOutPart<Head> {
  head: Head
  /** The disk usage of its tree. */
  used: CheckoutUse
  /** The disk usage that was added to its mirror. */
  added: CheckoutUse
  submodules: Submodule[]
  lfs: LfsListing | null
}

/** The folder for what was fetched from a repository with the credentials of one holder. */
export function mirrorOf(mirrors: string, address: string, holder: string): string {
  return join(mirrors, sha256(JSON.stringify([splitCredentials(address).url, holder])))
}

/** Fetches the commit of a part and writes its tree. Throws BuildFailure and RemoteFault. */
export function layOutPart<Head extends { sha: string }>(
  { access, mirror, place, fetch }: Part<Head>,
  { used, added, usesKeptTrees, signal, onLine }: PartContext,
): Promise<LaidOutPart<Head>> {
  const layOut = async (remote: Remote, limited: AbortSignal): Promise<Omit<LaidOutPart<Head>, 'added'>> => {
    const repository = new Repository(mirror, remote)
    if (!existsSync(mirror)) await repository.create()
    const head = await fetch(repository)
    const judged = await judgeTree(repository, head.sha, used)
    const tree = new KeptTree(repository, limited)
    await tree.layOut(judged, place, usesKeptTrees)
    const submodules = await submodulesOf(repository, judged, place.folder)
    const lfs = await listLfsFiles(repository, tree, judged)
    await joinPacks(repository)
    return { head, submodules, lfs, used: useOf(judged) }
  }
  const work = async (): Promise<LaidOutPart<Head>> => {
    const before = await sizeOf(mirror)
    // What existed before this checkout does not count towards its limit.
    const filling = { directory: mirror, extra: excess(added, before) }
    const laidOut = await withinSize(filling, signal, (limited) =>
      withRemote(access, limited, (remote) => layOut(remote, limited)),
    )
    return { ...laidOut, added: excess(await sizeOf(mirror), before) }
  }
  return withMirror({ directory: mirror, signal, onLine, work })
}

/** The disk usage of a mirror with its tree. */
async function sizeOf(mirror: string): Promise<CheckoutUse> {
  const tree = await sizeOfKeptTree(mirror)
  return { bytes: (await sizeOfMirror(mirror)) + (tree?.bytes ?? 0), files: tree?.files ?? 0 }
}

/** By how much one usage exceeds another. */
function excess(use: CheckoutUse, other: CheckoutUse): CheckoutUse {
  return { bytes: Math.max(0, use.bytes - other.bytes), files: Math.max(0, use.files - other.files) }
}
