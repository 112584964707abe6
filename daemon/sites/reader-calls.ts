import type { Call } from '../reader/call.ts'

/** Enough for 4 GiB through tar and onto a disk, in 200,000 files. */
const LIFT_CPU_SECONDS = 10 * 60
/** Enough to copy as much, where the source is not on the disk of the data directory. */
const TAKE_SECONDS = 10 * 60

/** The result of preparing a site's folder for serving. */
export interface FinishedSite {
  files: number
  /** Remarks on its rule files, for the deploy's log. */
  notes: string[]
  /** Why it is not a site, with what was found; null when something answers `/`. */
  fault: string | null
}

/** The folder of a tree that is published as it is. */
export interface TakeFolder {
  root: string
  publishDirectory: string
  /** The target; its subfolder `files` is what is published. */
  folder: string
  /** Its index.html answers paths without a file. */
  singlePage: boolean
}

/** Moves a folder of the source to where it is published. */
export const TAKE_FOLDER: Call<TakeFolder, FinishedSite> = {
  name: 'take-folder',
  doing: 'taking the files of the site',
  limits: { cpuSeconds: TAKE_SECONDS, seconds: TAKE_SECONDS },
}

/** A folder that is sent as a tar archive, and where it goes. */
export interface LiftedFolder {
  top: string
  folder: string
  /** Its index.html answers paths without a file. */
  singlePage: boolean
}

/** Writes a folder that is sent as a tar archive, all of it below `top`, to the `files` of `folder`. */
export const LIFT_FOLDER: Call<LiftedFolder, FinishedSite> = {
  name: 'lift-folder',
  doing: 'copying the published folder out of the image',
  limits: { cpuSeconds: LIFT_CPU_SECONDS, seconds: null },
}
