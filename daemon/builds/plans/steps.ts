import { posix } from 'node:path'
import { shellArguments } from '../start-command.ts'
import type { PlanSettings } from './plan.ts'

/** Dockerfile lines here must suit the frontend in Docker 20.10: no heredocs, no `COPY --link`, no secrets as variables. */

/** The name of the script that runs the steps of a build. */
export const BUILD_STEP_FILE = 'build-step'

/**
 * Runs a command with the variables of the build, which are mounted as files under /run/secrets, byte for byte: the
 * `x` keeps the newlines at a value's end, which `$(...)` takes off. Nothing of it stays in a layer.
 */
export const BUILD_STEP = `#!/bin/sh
for DEPLOYER_FILE in /run/secrets/*; do
  [ -f "$DEPLOYER_FILE" ] || continue
  DEPLOYER_VALUE=$(/bin/cat "$DEPLOYER_FILE"; printf x)
  export "\${DEPLOYER_FILE##*/}=\${DEPLOYER_VALUE%x}"
done
unset DEPLOYER_FILE DEPLOYER_VALUE
exec /bin/sh -c "$1"
`

const BUILD_STEP_PATH = `/usr/local/bin/${BUILD_STEP_FILE}`

/** The user and group that plans' images run as; node's own images have a user of that id. */
const APP_USER_ID = 1000

/** The name of a base image, behind the registry that is to be used for it. */
export function baseImage(settings: PlanSettings, name: string): string {
  return settings.baseImageRegistry === null ? name : posix.join(settings.baseImageRegistry, name)
}

/** Begins a stage whose RUN lines see the build's variables. */
export function buildStage(image: string): string[] {
  return [
    `FROM ${image} AS build`,
    `COPY --chmod=755 ${BUILD_STEP_FILE} ${BUILD_STEP_PATH}`,
    `SHELL ["/bin/sh", "${BUILD_STEP_PATH}"]`,
    'WORKDIR /app',
  ]
}

/** A RUN line with the build's variables and with caches that outlive it. */
export function step(command: string, settings: PlanSettings, caches: string[] = []): string {
  const mounts = [
    ...caches.map((target) => `--mount=type=cache,target=${target}`),
    ...settings.secretNames.map((name) => `--mount=type=secret,id=${name}`),
  ]
  // One mount a line: the frontend takes no line over 64 KiB.
  return ['RUN', ...mounts.map((mount) => `${mount} \\\n   `), inDockerfile(command)].join(' ')
}

/** The build command's line, which runs again when the variables changed. */
export function buildCommandSteps(command: string, settings: PlanSettings, caches: string[] = []): string[] {
  const digest = settings.secretsDigest
  const argument = digest === null ? [] : [`ARG DEPLOYER_VARIABLES=${digest}`]
  return [...argument, step(command, settings, caches)]
}

/** Plain commands stand as they are; the JSON form keeps what the frontend would read as its own. */
function inDockerfile(command: string): string {
  const isPlain =
    /^[\w./]/.test(command) && !/[\n\r\\]|<<|[^\t -~]/.test(command) && command === command.trim()
  return isPlain ? command : JSON.stringify(['/bin/sh', BUILD_STEP_PATH, command])
}

/** The lines that make the image which runs: base, user, what was built, command. */
export function finalStage(image: string, content: string[], startCommand: string): string[] {
  return [
    `FROM ${image}`,
    `RUN getent passwd ${APP_USER_ID} >/dev/null || useradd --uid ${APP_USER_ID} --user-group --create-home app`,
    ...content,
    'WORKDIR /app',
    `USER ${APP_USER_ID}:${APP_USER_ID}`,
    `CMD ${JSON.stringify(shellArguments(startCommand))}`,
  ]
}

/** Takes a folder of the build stage, owned by the app's user: many programs write beside themselves. */
export function takeApp(path = '/app'): string {
  return `COPY --from=build --chown=${APP_USER_ID}:${APP_USER_ID} ${path} ${path}`
}
