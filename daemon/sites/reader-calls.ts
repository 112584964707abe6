import type { Call } from '../reader/call.ts'

/** 4 GiB through tar and onto a disk, in 200,000 files. */
const LIFT_CPU_SECONDS = 10 * 60
/** As much copied, where a source is not on the disk of the data directory. */
const TAKE_SECONDS = 10 * 60

/** What a site's folder holds when it is fit to be served. */
export interface FinishedSite {
  files: number
  /** What is to be said of its rule files. */
  notes: string[]
  /** Why it is no site, with what was found; null when something answers `/`. */
  fault: string | null
}

/** Which folder of a tree is published as it is. */
export interface TakeFolder {
  root: string
  publishDirectory: string
  /** Its `files` are what is published. */
  folder: string
  /** Paths without a file are answered by its index.html. */
  singlePage: boolean
}

/** Moves a folder of the source to where it is published. */
export const TAKE_FOLDER: Call<TakeFolder, FinishedSite> = {
  name: 'take-folder',
  doing: 'taking the files of the site',
  limits: { cpuSeconds: TAKE_SECONDS, seconds: TAKE_SECONDS },
}

/** What is fed as a tar archive, and where it goes. */
export interface LiftedFolder {
  top: string
  folder: string
  /** Paths without a file are answered by its index.html. */
  singlePage: boolean
}

/** Writes a folder that is fed as a tar archive, all of it below `top`, to the `files` of `folder`. */
export const LIFT_FOLDER: Call<LiftedFolder, FinishedSite> = {
  name: 'lift-folder',
  doing: 'copying the published folder out of the image',
  limits: { cpuSeconds: LIFT_CPU_SECONDS, seconds: null },
}
