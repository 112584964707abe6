/** Commands that install what the manifests name and nothing else, which every plan does before it builds. */
const INSTALLATION =
  /^(?:npm (?:ci|i|install|clean-install)|(?:pnpm|bun) (?:i|install)|yarn(?: install)?|(?:python3? -m )?pip3? install(?: --?[\w-]+)* -r requirements\.txt|(?:composer|bundle|poetry|pipenv) install|uv sync)(?: --?[\w-]+(?:=[\w./-]+)?)*$/

/** Package managers that a plan brings, in the version that the tree asks for. */
const MANAGER =
  /^(?:npm (?:i|install) (?:-g|--global)|corepack (?:enable|prepare))(?: (?:npm|pnpm|yarn)(?:@[\w.-]+)?| --?[\w-]+)*$/

/** It installs in another folder, or for the whole machine. */
const ELSEWHERE = /^(?:npm|pnpm|yarn|bun) .*\s(?:--prefix|--cwd|--dir|--modules-folder|-C)(?:[=\s]|$)/

/** Options that change nothing of what is installed where, beside what a plan installs. */
const OPTION =
  /^(?:-[qsf]|--(?:quiet|silent|force|ci|legacy-peer-deps|prefer-offline|no-audit|no-fund|no-save|frozen-lockfile|no-frozen-lockfile|immutable|no-immutable|include=dev|production=false|no-progress|non-interactive))$/

/** The environment that a plan makes, as Nixpacks makes it (nixpacks.com, "Python"). */
const ENVIRONMENT =
  /^(?:python3? -m venv(?: --[\w-]+)* \/opt\/venv|(?:\.|source) \/opt\/venv\/bin\/activate)$/

/** Whether a command does what a plan has done already when it builds. */
export function isInstallation(command: string): boolean {
  if (ELSEWHERE.test(command)) return false
  return INSTALLATION.test(command) || MANAGER.test(command) || ENVIRONMENT.test(command)
}

/**
 * A build command without what its first commands install, as people write it for hosts that install nothing themselves:
 * `npm ci && npm run build`. A second installation costs time, and npm's removes folders that are mounted in the build.
 * Null where nothing is left.
 */
export function withoutInstallation(command: string): string | null {
  return withoutFirst(command, isInstallation)
}

/**
 * The same for a service's own command, and the package managers alone that may have installed: what brings or runs another
 * one stays, as what follows may be run by it, and so does what asks for more than a plan installs.
 */
export function withoutInstallationBy(managers: readonly string[], command: string): string | null {
  return withoutFirst(command, (part) => {
    const [program, ...words] = part.split(' ')
    const isPlain = words.every((word) => !word.startsWith('-') || OPTION.test(word))
    return managers.includes(program!) && isPlain && INSTALLATION.test(part)
  })
}

function withoutFirst(command: string, isDone: (part: string) => boolean): string | null {
  const parts = command.split('&&').map((part) => part.trim())
  const first = parts.findIndex((part) => !isDone(part))
  if (first <= 0) return first === 0 ? command : null
  return parts.slice(first).join(' && ')
}

/** Variables that do what an option of an installation does. */
export function installationVariables(commands: readonly (string | null)[]): Record<string, string> {
  const isLegacy = commands.some((command) => /\s--legacy-peer-deps(?:\s|$)/.test(command ?? ''))
  return isLegacy ? { npm_config_legacy_peer_deps: 'true' } : {}
}
