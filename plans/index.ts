/**
 * The door of this room: detects of which language a source is, and plans its build. Nothing else of it is imported
 * elsewhere.
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

// What is read of a source that is built by its own Dockerfile, or is a site as it is.
export { seemsBot } from './bots.ts'
export { dockerfileAside, otherDockerfile } from './dockerfiles.ts'
export { readHosted, releasingAs, startingAs, type Said } from './hosts/hosted.ts'
export { hasScript } from './node/manifest.ts'
export { pagesIn } from './pages.ts'
export { processTypes } from './procfile.ts'
export { directCommand, shellArguments } from './start-command.ts'
export { readStaticFiles } from './static-files.ts'

// How the files of a source are read.
export { BuildFailure } from './failure.ts'
export { hasLine, linesOf } from './text.ts'
export { Tree } from './tree.ts'
