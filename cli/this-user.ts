import { homedir, userInfo } from 'node:os'

/** The home folder of this user; null for one without, such as an unknown user id in a container. */
export function homeFolder(): string | null {
  try {
    return homedir()
  } catch {
    return null
  }
}

/** The name of this user; `uid 1000` for one that the system does not know. */
export function userName(): string {
  try {
    return userInfo().username
  } catch {
    return `uid ${process.getuid?.() ?? ''}`.trim()
  }
}
