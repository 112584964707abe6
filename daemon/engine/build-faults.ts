import { explain } from './faults.ts'

/** The prefixes that BuildKit puts before the actual error. */
const FRAMES = [
  /^failed to solve(?: with frontend [\w.]+)?:\s*/,
  /^failed to (?:create LLB definition|build LLB|compute cache key|load cache key):\s*/,
  /^executor failed running \[[^\]]*\]: (?!exit code)/,
  /^rpc error: code = \w+ desc = /,
]
/** Where Docker and Podman unpack the source. */
const SCRATCH = /\/\S{0,200}\/(?:buildkit-mount|libpod_builder|buildah-context-?)\d+\/(?:build\/)?/g
/** How Podman begins the error of a step. */
const PODMAN_STEP = /^building at STEP "([^]*?)": /

interface Fault {
  /** The engine's message, without prefixes. */
  text: string
  /** The step that failed, as its heading names it. */
  step: string | null
}

type Rule = (fault: Fault) => string | null

/** What can go wrong in a build, as Docker 20.10 and later versions report it. The first rule that matches explains it. */
const RULES: Rule[] = [commandFailed, dockerfileWrong, secretMissing, baseMissing, fileMissing]

/**
 * Explains the error of a build: which step failed and how, or what the Dockerfile, the source or the base image lacks.
 * `steps` are the names of the steps that failed.
 */
export function explainBuild(message: string, steps: readonly string[]): string {
  let text = message.trim()
  for (let before = ''; before !== text;) {
    before = text
    for (const frame of FRAMES) text = text.replace(frame, '')
  }
  const named = PODMAN_STEP.exec(text)
  if (named) text = text.slice(named[0].length)
  const fault = { text: text.replaceAll(SCRATCH, ''), step: steps.at(-1) ?? named?.[1] ?? null }
  for (const rule of RULES) {
    const explained = rule(fault)
    if (explained !== null) return explained
  }
  return fault.step === null
    ? explain(fault.text)
    : `the step ${quote(fault.step)} failed: ${explain(fault.text)}`
}

function commandFailed({ text, step }: Fault): string | null {
  const code = /exit code: (\d+)|exit status (\d+)|returned a non-zero code: (\d+)/
    .exec(text)
    ?.slice(1)
    .find(Boolean)
  if (code === undefined) return null
  const command = /\[\/bin\/sh -c ([^\]]*)\]|["']\/bin\/sh -c ([^"']*)["']/.exec(text)?.slice(1).find(Boolean)
  const named = step ?? command
  // BuildKit 0.10 and later report when the kernel killed a step for memory.
  const why = /cannot allocate memory/.test(text)
    ? ' (it ran out of the memory that builds may use)'
    : code === '137'
      ? ' (it was killed)'
      : ''
  return `the step${named ? ` ${quote(named)}` : ''} failed with exit code ${code}${why}`
}

function dockerfileWrong({ text }: Fault): string | null {
  const missing = /^(?:failed to read dockerfile: open|stat) (\S+): no such file/.exec(text)
  if (missing) return `there is no Dockerfile at ${missing[1]} in the source: add it, or set dockerfile_path`
  if (
    /^file with no instructions|no FROM statement found|no build stage in current context|the Dockerfile cannot be empty/i.test(
      text,
    )
  ) {
    return 'the Dockerfile is empty: it needs at least a FROM line'
  }
  const parse = /^dockerfile parse error (?:on )?(.*)/is.exec(text)
  const unknown = /^Build error: (Unknown instruction: .*)/.exec(text)
  const reason = parse?.[1] ?? unknown?.[1]
  return reason === undefined ? null : `the Dockerfile cannot be read: ${reason}`
}

function secretMissing({ text }: Fault): string | null {
  const secret = /secret ([\w.-]+)(?::)? not found/.exec(text)?.[1]
  return secret === undefined
    ? null
    : `the build needs the secret ${secret}: add it to the service as a variable`
}

function baseMissing({ text, step }: Fault): string | null {
  const syntax = /^resolve image config for (\S+)/.exec(step ?? '')?.[1]
  if (syntax !== undefined)
    return `the Dockerfile's "# syntax=" line names ${shortName(syntax)}, which cannot be pulled: ${explain(text)}`
  const named = /^\[internal\] load metadata for (\S+)|(?:^|\] )FROM (\S+)/
    .exec(step ?? '')
    ?.slice(1)
    .find(Boolean)
  const prefixed = /^([a-z0-9.-]+(?::\d+)?\/[\w./-]+(?:[:@][\w.:-]+)?): /.exec(text)?.[1]
  const ofPodman = /initializing source docker:\/\/(\S+): /.exec(text)?.[1]
  const image = named ?? prefixed ?? ofPodman
  if (image === undefined) return null
  const reason = text.endsWith(': not found') ? explain('manifest unknown') : explain(text)
  return `the base image ${shortName(image)} cannot be pulled: ${reason}`
}

function fileMissing({ text, step }: Fault): string | null {
  const patterns = [/"\/?([^"]+)":? not found/, /lstat (\S+): no such file/, /^"?\/?(\S+?)"?: not found$/]
  for (const pattern of patterns) {
    const path = pattern.exec(text)?.[1]
    if (path === undefined) continue
    return `${step === null ? '' : `the step ${quote(step)} failed: `}there is no ${path} in the source: check the path and .dockerignore`
  }
  return null
}

function shortName(image: string): string {
  return image.replace(/^docker\.io\/(?:library\/)?/, '')
}

/** Commands may be whole scripts. */
const MAX_STEP_LENGTH = 200

function quote(step: string): string {
  const line = step.replaceAll(/\s+/g, ' ')
  return `"${line.length > MAX_STEP_LENGTH ? `${line.slice(0, MAX_STEP_LENGTH)}...` : line}"`
}
