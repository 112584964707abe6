/**
 * The entry point of this folder: detects the language of a source and plans its build. Other folders import this file only.
 */
export { planBuild, planDirectory, type BuildPlan } from './build-plan.ts'
export { detectLanguage, explainNoPlan } from './languages.ts'
export {
  NO_SETTINGS,
  NOTHING_KNOWN,
  type LanguagePlan,
  type PlanFacts,
  type PlanSettings,
  type ProcessType,
  type WholeSource,
} from './plan.ts'
export { BUILD_STEP, BUILD_STEP_FILE, MANIFESTS_FOLDER } from './steps.ts'

// For a source that is built by its own Dockerfile, or is a site as it is.
export { looksLikeBot } from './bots.ts'
export { dockerfileAside, otherDockerfile } from './source/dockerfiles.ts'
export type { HostCommand } from './hosts/commands.ts'
export { readHostFiles, releaseNote, startNote } from './hosts/hosted.ts'
export { hasScript } from './node/manifest.ts'
export { pagesIn } from './source/pages.ts'
export { processTypes } from './procfile.ts'
export { directCommand, shellArguments } from './start-command.ts'
export { readStaticFiles } from './source/static-files.ts'

// For reading the files of a source.
export { BuildFailure } from './source/failure.ts'
export { hasLine, linesOf } from './source/text.ts'
export { Tree } from './source/tree.ts'
