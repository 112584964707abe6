import type { Job } from '../reader/job.ts'

/** 4 GiB through tar and onto a disk, in 200,000 files. */
const LIFT_CPU_SECONDS = 10 * 60
/** As much copied, where a source is not on the disk of the data directory. */
const TAKE_SECONDS = 10 * 60
/** What a site's folder holds when it is fit to be served. */
export interface FinishedSite {
  files: number
  /** What is to be said of its rule files. */
  notes: string[]
}

/** Whether a tree is published as it is, and where from. */
export interface TakeFolder {
  root: string
  /** Says that a `build` script of a package.json makes it a tree to be built. */
  mayBuild: boolean
  publishDirectory: string
  /** Its `files` are what is published. */
  folder: string
}

/** Moves a folder of the source to where it is published; answers null for a tree that has to be built first. */
export const TAKE_FOLDER: Job<TakeFolder, FinishedSite | null> = {
  name: 'take-folder',
  doing: 'taking the files of the site',
  limits: { cpuSeconds: TAKE_SECONDS, seconds: TAKE_SECONDS },
}

/** Writes a folder that is fed as a tar archive, all of it below `top`, to the `files` of `folder`. */
export const LIFT_FOLDER: Job<{ top: string; folder: string }, FinishedSite> = {
  name: 'lift-folder',
  doing: 'copying the published folder out of the image',
  limits: { cpuSeconds: LIFT_CPU_SECONDS, seconds: null },
}
