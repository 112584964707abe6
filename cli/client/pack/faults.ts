import { clean } from '../../clean-text.ts'
import { EXIT, Fault } from '../../fault.ts'

/** A fault of what is in a folder; its names may have line ends and worse in them. */
export function packingFault(exitCode: number, message: string): Fault {
  return new Fault(exitCode, clean(message))
}

/** The fault for a file or folder that cannot be read. */
export function unreadable(path: string, error: unknown): Fault {
  const { code, message } = error as NodeJS.ErrnoException
  const why = code === 'EACCES' || code === 'EPERM' ? 'permission denied' : message
  return packingFault(
    EXIT.wrongWords,
    `cannot read ${path}: ${why}; make it readable, or leave it out in .deployerignore`,
  )
}

/** The fault for a file that is not what it was when its folder was listed, or when it was opened. */
export function changed(path: string): Fault {
  return packingFault(EXIT.failed, `${path} changed while it was read; nothing was deployed, run it again`)
}
