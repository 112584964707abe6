import type { Call } from '../reader/call.ts'
import type { Filling } from './directory-size.ts'
import type { LfsObject } from './lfs-files.ts'
import type { LinkTree } from './link-tree.ts'

/** 4 GiB through gzip and tar take 30 s; slow disks and 200,000 small files some minutes more. */
const ARCHIVE_CPU_SECONDS = 10 * 60
/** The rest of a tree of any size is gone in less. */
const REMOVAL_SECONDS = 10 * 60
/** A look at 500,000 files takes 3 s, and of the 15 minutes that git has it looks three fifths. */
const WATCH_CPU_SECONDS = 10 * 60

/** Writes the archive that is fed to it to a file that is its owner's alone, and judges it on the way. */
export const KEEP_ARCHIVE: Call<{ path: string }, null> = {
  name: 'keep-archive',
  doing: 'reading the archive',
  limits: { cpuSeconds: ARCHIVE_CPU_SECONDS, seconds: null },
}

/**
 * Unpacks an archive into an empty directory; a folder `aside` beside that may be used meanwhile. Answers the first files of
 * it that are pointers of Git LFS.
 */
export const UNPACK_ARCHIVE: Call<{ path: string; directory: string }, string[]> = {
  name: 'unpack-archive',
  doing: 'unpacking the archive',
  limits: { cpuSeconds: ARCHIVE_CPU_SECONDS, seconds: null },
}

/** Answers when a directory holds more than a checkout may. */
export const WATCH_SIZE: Call<Filling, null> = {
  name: 'watch-size',
  doing: 'counting the files of the repository',
  limits: { cpuSeconds: WATCH_CPU_SECONDS, seconds: null },
}

/** Answers what the pointers of Git LFS among the files of a tree point to. */
export const READ_POINTERS: Call<{ directory: string; paths: string[] }, LfsObject[]> = {
  name: 'read-pointers',
  doing: 'reading the pointers of Git LFS',
  limits: { cpuSeconds: REMOVAL_SECONDS, seconds: REMOVAL_SECONDS },
}

/** Writes objects of Git LFS, which are fed to it, in place of their pointers. */
export const WRITE_OBJECTS: Call<{ directory: string; objects: LfsObject[] }, null> = {
  name: 'write-objects',
  doing: 'writing the files of Git LFS',
  limits: { cpuSeconds: ARCHIVE_CPU_SECONDS, seconds: null },
}

/** Fills a folder with the files of a tree that is kept; answers how many there are. */
export const LINK_TREE: Call<LinkTree, number> = {
  name: 'link-tree',
  doing: 'laying out the files of the repository',
  limits: { cpuSeconds: ARCHIVE_CPU_SECONDS, seconds: null },
}

/** Removes a folder with all that it holds; a missing one is fine. */
export const REMOVE_TREE: Call<{ directory: string }, null> = {
  name: 'remove-tree',
  doing: 'removing the files of the source',
  limits: { cpuSeconds: REMOVAL_SECONDS, seconds: REMOVAL_SECONDS },
}
