import type { Call } from '../reader/call.ts'
import type { Filling } from './directory-size.ts'
import type { LfsObject } from './lfs-files.ts'
import type { LinkTree } from './link-tree.ts'

/** 4 GiB through gzip and tar take 30 s; slow disks and 200,000 small files take some minutes more. */
const ARCHIVE_CPU_SECONDS = 10 * 60
/** Enough to remove a tree of any size. */
const REMOVAL_SECONDS = 10 * 60
/** Measuring 500,000 files takes 3 s, and takes place for three fifths of the 15 minutes that git has. */
const WATCH_CPU_SECONDS = 10 * 60

/** Writes the archive that is fed to it to a private file, and judges it on the way. */
export const KEEP_ARCHIVE: Call<{ path: string }, null> = {
  name: 'keep-archive',
  doing: 'reading the archive',
  limits: { cpuSeconds: ARCHIVE_CPU_SECONDS, seconds: null },
}

/**
 * Unpacks an archive into an empty directory; may use a folder `aside` next to it in the meantime. Returns the first files
 * that are Git LFS pointers.
 */
export const UNPACK_ARCHIVE: Call<{ path: string; directory: string }, string[]> = {
  name: 'unpack-archive',
  doing: 'unpacking the archive',
  limits: { cpuSeconds: ARCHIVE_CPU_SECONDS, seconds: null },
}

/** Ends when a directory is larger than a checkout may be. */
export const WATCH_SIZE: Call<Filling, null> = {
  name: 'watch-size',
  doing: 'counting the files of the repository',
  limits: { cpuSeconds: WATCH_CPU_SECONDS, seconds: null },
}

/** Returns the objects that the Git LFS pointers among the files of a tree name. */
export const READ_POINTERS: Call<{ directory: string; paths: string[] }, LfsObject[]> = {
  name: 'read-pointers',
  doing: 'reading the Git LFS pointers',
  limits: { cpuSeconds: REMOVAL_SECONDS, seconds: REMOVAL_SECONDS },
}

/** Replaces Git LFS pointers by their objects, which are fed to it. */
export const WRITE_OBJECTS: Call<{ directory: string; objects: LfsObject[] }, null> = {
  name: 'write-objects',
  doing: 'writing the Git LFS files',
  limits: { cpuSeconds: ARCHIVE_CPU_SECONDS, seconds: null },
}

/** Fills a folder with the files of a kept tree; returns how many there are. */
export const LINK_TREE: Call<LinkTree, number> = {
  name: 'link-tree',
  doing: 'laying out the files of the repository',
  limits: { cpuSeconds: ARCHIVE_CPU_SECONDS, seconds: null },
}

/** Removes a folder and everything in it, if it exists. */
export const REMOVE_TREE: Call<{ directory: string }, null> = {
  name: 'remove-tree',
  doing: 'removing the files of the source',
  limits: { cpuSeconds: REMOVAL_SECONDS, seconds: REMOVAL_SECONDS },
}
