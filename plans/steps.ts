import { posix } from 'node:path'
import type { PlanFacts, PlanSettings } from './plan.ts'
import { shellArguments } from './start-command.ts'

/**
 * The Dockerfile lines here must work in the frontend of Docker 20.10: no heredocs, no `COPY --link`, no secrets as
 * variables.
 */

/** Paths that can be written into a Dockerfile and into commands as they are. */
export const PLAIN_PATH = /^[\w@.+-]+(?:\/[\w@.+-]+)*$/

/** What is said where a manager needs more than its manifests, and installs the rest once the source is there. */
export const UNFINISHED = "echo 'some packages need the rest of the source: installing them with it'"

/** The name of the script that runs the steps of a build. */
export const BUILD_STEP_FILE = 'build-step'

/** The folder of the context with only the manifests of a tree, so that a change of the code does not change it. */
export const MANIFESTS_FOLDER = 'manifests'

/** Where the caches of a project are mounted, each in a folder named by its place in DEPLOYER_CACHES. */
const PROJECT_CACHES = '/var/cache/project'

/** The folder of a build stage with what came since the stage before it; see `DEPLOYER_TAKE`. */
export const TAKEN = '/taken'

/** A file of the build stage: the paths that the image must not have from its packages, with a NUL after each. */
const REMOVED = '/var/lib/deployer/removed'

/** A file that marks an installation for the image that failed; see `DEPLOYER_TAKE`. */
export const INCOMPLETE = '.deployer-incomplete'

/** Where a build stage sees the packages of the image, to look for that mark. */
const SHIPPED = '/var/lib/deployer/shipped'

/** The home folder of programs whose images take it from their build. */
export const HOME = '/home/app'

/** What installations and builds leave in the home folder that no program needs, and credentials. */
const NOT_OF_HOME =
  '.npm .npmrc .netrc .git-credentials .gitconfig .docker .ssh .cache/node-gyp .cache/Cypress .cache/yarn .cache/pnpm ' +
  '.local/share/pnpm .local/state/pnpm .bun/install/cache .yarn/berry .cache/node/corepack'

/**
 * Runs a command with the variables of the build, which are mounted as files under /run/secrets, byte for byte: the `x`
 * preserves trailing newlines, which `$(...)` would strip. Nothing of it remains in a layer.
 *
 * DEPLOYER_CACHES lists folders of the project, with colons between them, which are links to mounted caches during the
 * command: a mount in their place could not be removed, as by `rm -rf .next`, and would fail the command.
 *
 * With DEPLOYER_TAKE, everything that is newer than this script, which a stage copies first, is copied to a folder of its
 * own, and what is gone, or has become something else, is listed. All packages are taken where those of the image are of no
 * use: their installation failed, or the clock went back. With `all-changed`, a single changed file is enough, for a manager
 * that puts the packages of the image into other folders than those of the build.
 *
 * The script's own programs come from the system, whatever the project has in its PATH.
 */
export const BUILD_STEP = `#!/bin/sh
DEPLOYER_PATH=$PATH
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
set -f
deployer_link() {
  DEPLOYER_AT=0 IFS=:
  for DEPLOYER_EACH in $DEPLOYER_CACHES; do
    [ -e "$DEPLOYER_EACH" ] || [ -L "$DEPLOYER_EACH" ] || {
      mkdir -p "$(dirname "$DEPLOYER_EACH")" && ln -s "${PROJECT_CACHES}/$DEPLOYER_AT" "$DEPLOYER_EACH"
    } 2>/dev/null
    DEPLOYER_AT=$((DEPLOYER_AT + 1))
  done
  unset IFS
}
deployer_unlink() {
  DEPLOYER_AT=0 IFS=:
  for DEPLOYER_EACH in $DEPLOYER_CACHES; do
    if [ "$(readlink "$DEPLOYER_EACH")" = "${PROJECT_CACHES}/$DEPLOYER_AT" ]; then
      rm "$DEPLOYER_EACH"
      rmdir "$(dirname "$DEPLOYER_EACH")" 2>/dev/null
    fi
    DEPLOYER_AT=$((DEPLOYER_AT + 1))
  done
  unset IFS
}
deployer_list() {
  find . -printf '%y %P\\0' | sort -z > "$1"
}
deployer_take() {
  deployer_list /tmp/deployer-after
  comm -z -23 /tmp/deployer-before /tmp/deployer-after | cut -z -c 3- > ${REMOVED}
  set -- -newercc "$0"
  if [ -e package.json ] && [ -z "$(find package.json "$@")" ]; then
    set -- -true
  elif [ -e ${SHIPPED}/${INCOMPLETE} ] || { [ "$DEPLOYER_TAKE" = all-changed ] && deployer_changed; }; then
    set -- '(' "$@" -o -path '*/node_modules/*' ')'
    find . -name node_modules -prune -printf '%P\\0' >> ${REMOVED}
    printf '${INCOMPLETE}\\0' >> ${REMOVED}
  fi
  mkdir -p ${TAKEN}
  find . "$@" ! -type s '(' ! -type d -o -empty -o ! -path '*/node_modules/*' ')' -print0 > /tmp/deployer-taken &&
    tar --null --no-recursion -cf - -T /tmp/deployer-taken | tar --warning=no-timestamp -xf - -C ${TAKEN}
}
deployer_changed() {
  grep -zq '\\(^\\|/\\)node_modules/[^.]' ${REMOVED} ||
    [ -n "$(find . -newercc "$0" -type f -path '*/node_modules/*' ! -path '*/node_modules/.*' -print -quit)" ]
}
deployer_run() (
  PATH=$DEPLOYER_PATH
  unset DEPLOYER_PATH DEPLOYER_CACHES DEPLOYER_TAKE DEPLOYER_AT DEPLOYER_EACH DEPLOYER_VARIABLES
  set +f
  for DEPLOYER_FILE in /run/secrets/*; do
    [ -f "$DEPLOYER_FILE" ] || continue
    DEPLOYER_VALUE=$(/bin/cat "$DEPLOYER_FILE"; printf x)
    export "\${DEPLOYER_FILE##*/}=\${DEPLOYER_VALUE%x}"
  done
  unset DEPLOYER_FILE DEPLOYER_VALUE
  export NO_UPDATE_NOTIFIER=1 npm_config_update_notifier=false pnpm_config_update_notifier=false
  export PIP_DISABLE_PIP_VERSION_CHECK=1 DENO_NO_UPDATE_CHECK=1 BUNDLE_DISABLE_VERSION_CHECK=true
  export PRISMA_HIDE_UPDATE_MESSAGE=1 BROWSERSLIST_IGNORE_OLD_DATA=1 BASELINE_BROWSER_MAPPING_IGNORE_OLD_DATA=1
  exec /bin/sh -c "$1"
)
[ -z "$DEPLOYER_TAKE" ] || { mkdir -p ${posix.dirname(REMOVED)} && deployer_list /tmp/deployer-before; }
deployer_link
deployer_run "$1" || exit
deployer_unlink
[ "$HOME" != ${HOME} ] || (cd ${HOME} && rm -rf ${NOT_OF_HOME})
[ -z "$DEPLOYER_TAKE" ] || deployer_take
`

const BUILD_STEP_PATH = `/usr/local/bin/${BUILD_STEP_FILE}`

/** The user and group id that plans' images run as; node's own images have a user with that id. */
const APP_USER_ID = 1000

/**
 * Makes programs that read these variables listen on all addresses; otherwise nothing outside the container reaches them.
 */
const LISTENING = 'HOST=0.0.0.0 HOSTNAME=0.0.0.0'

/** Returns the name of a base image in the registry that is configured for all of them. */
export function baseImage(settings: PlanSettings, name: string): string {
  if (settings.baseImageRegistry === null) return name
  const slash = name.indexOf('/')
  const isElsewhere = name.slice(0, slash + 1).includes('.')
  return posix.join(settings.baseImageRegistry, isElsewhere ? name.slice(slash + 1) : name)
}

/** Begins a stage whose RUN lines see the build's variables. */
export function buildStage(image: string, name = 'build'): string[] {
  return [
    `FROM ${image} AS ${name}`,
    `COPY --chmod=755 ${BUILD_STEP_FILE} ${BUILD_STEP_PATH}`,
    `SHELL ["/bin/sh", "${BUILD_STEP_PATH}"]`,
    'WORKDIR /app',
  ]
}

/**
 * A mount that a command sees while it runs and no layer keeps: a cache of the service, a cache that parallel stages take
 * turns with, a folder of another stage, or a cache that is linked to from a folder of the project.
 */
export type Mount =
  | string
  | { inTurns: string }
  | { stage: string; folder: string; target?: string }
  | { project: string; at: number }

/** A RUN line with the build's variables and secret files, and with mounts. */
export function step(command: string, settings: PlanSettings, mounts: readonly Mount[] = []): string {
  const lines = [
    ...mounts.map((mount) => mountOf(mount, settings)),
    ...settings.secretNames.map((name) => `--mount=type=secret,id=${name}`),
    ...settings.secretFiles.map((name) => `--mount=type=secret,id=${name},target=/etc/secrets/${name}`),
  ]
  // One mount per line: the frontend accepts no line over 64 KiB.
  return ['RUN', ...lines.map((mount) => `${mount} \\\n   `), commandLine(command)].join(' ')
}

function mountOf(mount: Mount, settings: PlanSettings): string {
  if (typeof mount === 'string') return `--mount=type=cache,id=${settings.cacheScope}${mount},target=${mount}`
  if ('project' in mount) {
    const id = posix.join(settings.cacheScope, '/app', mount.project).replaceAll(/[^\w@.+/-]/g, '_')
    return `--mount=type=cache,id=${id},target=${PROJECT_CACHES}/${mount.at}`
  }
  if ('inTurns' in mount) return `${mountOf(mount.inTurns, settings)},sharing=locked`
  const from = `--mount=type=bind,from=${mount.stage},source=${mount.folder}`
  // Without a place of its own, it is written to, and what is written is discarded with the command.
  return mount.target === undefined ? `${from},target=${mount.folder},rw` : `${from},target=${mount.target}`
}

/** Returns the line and the mounts with which a stage's commands find caches in folders of the project. */
export function projectCaches(folders: readonly string[]): { line: string; mounts: Mount[] } {
  return {
    line: `ENV DEPLOYER_CACHES="${inDockerfile(folders.join(':'))}"`,
    mounts: folders.map((project, at) => ({ project, at })),
  }
}

/**
 * Returns the line with which a stage's only command leaves in `TAKEN` what the image gets besides the packages of another
 * stage. Where those may be incomplete, `stage` names it, and a mount lets the command see that; it then waits for that
 * stage. `isElsewhere`: they may be in other folders than the build's.
 */
export function takeChanges(stage: string | null, isElsewhere: boolean): { line: string; mounts: Mount[] } {
  return {
    line: `ENV DEPLOYER_TAKE=${isElsewhere ? 'all-changed' : 'changed'}`,
    mounts: stage === null ? [] : [{ stage, folder: '/app', target: SHIPPED }],
  }
}

/** Returns the lines of the final image for `takeChanges`: the packages, without what the build has removed, and the rest. */
export function takePackages(stage: string): { packages: string[]; changes: string } {
  const file = posix.basename(REMOVED)
  const mount = `--mount=type=bind,from=build,source=${posix.dirname(REMOVED)},target=/removed`
  return {
    // Runs again only where the list differs.
    packages: [takeApp('/app', stage), `RUN ${mount} cd /app && xargs -0 -r rm -rf -- < /removed/${file}`],
    changes: takeApp(TAKEN, 'build', '/app'),
  }
}

/** The line of the build command, which runs again when the variables change; none without a command. */
export function buildCommandSteps(
  command: string | null,
  settings: PlanSettings,
  mounts: readonly Mount[] = [],
): string[] {
  if (command === null) return []
  const digest = settings.secretsDigest
  const argument = digest === null ? [] : [`ARG DEPLOYER_VARIABLES=${digest}`]
  return [...argument, step(command, settings, mounts)]
}

/** Plain commands are written as they are; the JSON form protects what the frontend would interpret. */
function commandLine(command: string): string {
  const isPlain =
    /^[\w./]/.test(command) && !/[\n\r\\]|<<|[^\t -~]/.test(command) && command === command.trim()
  return isPlain ? command : JSON.stringify(['/bin/sh', BUILD_STEP_PATH, command])
}

/** The image that runs. */
export interface FinalStage {
  image: string
  /** Debian packages that the program needs. */
  packages: readonly string[]
  /** Lines that copy what was built. */
  content: string[]
  /** Null for an image that never runs: a site's files are only copied from it. */
  startCommand: string | null
  /** The folder of the tree; /app where it is the whole source. */
  workdir?: string
}

/** Returns the lines of the final image: base, user, packages, what was built, command. */
export function finalStage({ image, packages, content, startCommand, workdir }: FinalStage): string[] {
  return [
    `FROM ${image}`,
    `ENV ${LISTENING}`,
    `RUN getent passwd ${APP_USER_ID} >/dev/null || useradd --uid ${APP_USER_ID} --user-group --create-home app`,
    ...installPackages(packages),
    ...content,
    `WORKDIR ${inDockerfile(workdir ?? '/app')}`,
    `USER ${APP_USER_ID}:${APP_USER_ID}`,
    `CMD ${JSON.stringify(shellArguments(startCommand ?? 'true'))}`,
  ]
}

/** Copies a folder of a stage, owned by the app's user: many programs write to their own folder. */
export function takeApp(path = '/app', stage = 'build', target = path): string {
  const paths = [path, target].map(inDockerfile)
  const list = paths.some((each) => each.includes(' ')) ? JSON.stringify(paths) : paths.join(' ')
  return `COPY --from=${stage} --chown=${APP_USER_ID}:${APP_USER_ID} ${list}`
}

/** Writes a path or a value so that the frontend expands no variables in it. */
export function inDockerfile(text: string): string {
  return text.replaceAll(/["\\$]/g, '\\$&')
}

/** The certificates that programs trust, for a base image without them. */
export const TAKE_CERTIFICATES = 'COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/'

/** Returns the line that installs Debian packages; none for none. */
export function installPackages(names: readonly string[]): string[] {
  if (names.length === 0) return []
  const install = `DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends ${names.join(' ')} >/dev/null`
  return [`RUN apt-get update -qq && ${install} && rm -rf /var/lib/apt/lists/*`]
}

/**
 * Marks every file as newer than the compiler's output in a cache that compares times. A build that runs again without a
 * change in the code has files from an earlier checkout, older than what was compiled from others since.
 */
export const RENEW_FILES = 'find . -path ./target -prune -o -type f -exec touch {} +'

/** Ends a Dockerfile: with the image that runs, or for a site with the build stage from which its files are copied. */
export function lastStage(
  { isSite, startCommand }: Pick<PlanFacts, 'isSite' | 'startCommand'>,
  stage: Omit<FinalStage, 'startCommand'>,
): string[] {
  return isSite ? siteStage(stage.workdir) : finalStage({ ...stage, startCommand })
}

/** Joins the lines of a Dockerfile. */
export function textOf(lines: readonly string[]): string {
  return `${lines.join('\n')}\n`
}

/**
 * Adds variables to every stage of a Dockerfile; those set by its own lines come later and win. Stages based on another
 * stage inherit them.
 */
export function withVariables(dockerfile: string, variables: Record<string, string>): string {
  const lines = Object.entries(variables).map(([key, value]) => `ENV ${key}="${inDockerfile(value)}"`)
  if (lines.length === 0) return dockerfile
  const stages = new Set<string>()
  return dockerfile.replaceAll(/^FROM (\S+)(?: AS (\S+))?$/gm, (line, image: string, stage?: string) => {
    const isOfStage = stages.has(image)
    if (stage !== undefined) stages.add(stage)
    return isOfStage ? line : [line, ...lines].join('\n')
  })
}

/** Ends a Dockerfile with the build stage from which a site's files are copied. */
export function siteStage(workdir = '/app'): string[] {
  return [
    'FROM build',
    `WORKDIR ${inDockerfile(workdir)}`,
    `USER ${APP_USER_ID}:${APP_USER_ID}`,
    `CMD ${JSON.stringify(shellArguments('true'))}`,
  ]
}
