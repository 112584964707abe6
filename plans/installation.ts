/** Commands that only install what the manifests name, which every plan does before it builds. */
const INSTALLATION =
  /^(?:npm (?:ci|i|install|clean-install)|(?:pnpm|bun) (?:i|install)|yarn(?: install)?|(?:python3? -m )?pip3? install(?: --?[\w-]+)* -r requirements\.txt|(?:composer|bundle|poetry|pipenv) install|uv sync)(?: --?[\w-]+(?:=[\w./-]+)?)*$/

/** Package managers that a plan installs, in the version that the tree asks for. */
const MANAGER =
  /^(?:npm (?:i|install) (?:-g|--global)|corepack (?:enable|prepare))(?: (?:npm|pnpm|yarn)(?:@[\w.-]+)?| --?[\w-]+)*$/

/** Options that install in another folder or globally. */
const ELSEWHERE = /^(?:npm|pnpm|yarn|bun) .*\s(?:--prefix|--cwd|--dir|--modules-folder|-C)(?:[=\s]|$)/

/** Options that change nothing about what is installed and where, compared with what a plan installs. */
const OPTION =
  /^(?:-[qsf]|--(?:quiet|silent|force|ci|legacy-peer-deps|prefer-offline|no-audit|no-fund|no-save|frozen-lockfile|no-frozen-lockfile|immutable|no-immutable|include=dev|production=false|no-progress|non-interactive))$/

/** The environment that a plan creates, as Nixpacks does (nixpacks.com, "Python"). */
const ENVIRONMENT =
  /^(?:python3? -m venv(?: --[\w-]+)* \/opt\/venv|(?:\.|source) \/opt\/venv\/bin\/activate)$/

/** Whether a plan has already done what a command does when it builds. */
export function isInstallation(command: string): boolean {
  if (ELSEWHERE.test(command)) return false
  return INSTALLATION.test(command) || MANAGER.test(command) || ENVIRONMENT.test(command)
}

/**
 * Returns a build command without its leading installation commands, as in `npm ci && npm run build`, which people write for
 * hosts that install nothing themselves. Installing twice costs time, and npm would remove folders that are mounted in the
 * build. Null where nothing is left.
 */
export function withoutInstallation(command: string): string | null {
  return withoutFirst(command, isInstallation)
}

/**
 * The same for a service's own command. What brings or runs another package manager stays, because the rest of the command
 * may depend on it, and so does an installation with further options.
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

/** Returns the variables that have the effect of an installation's options. */
export function installationVariables(commands: readonly (string | null)[]): Record<string, string> {
  const isLegacy = commands.some((command) => /\s--legacy-peer-deps(?:\s|$)/.test(command ?? ''))
  return isLegacy ? { npm_config_legacy_peer_deps: 'true' } : {}
}
