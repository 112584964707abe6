const CARRIAGE_RETURN = 0x0d

/** The first line of a script names its program by a path; Rust's attributes begin the same way, but are `#![...]`. */
const SHEBANG = /^#![ \t]*\//
/** How many bytes are enough to recognize a script. */
const SHEBANG_BYTES = 64

/**
 * A script with the line endings of Linux. A script whose first line ends as on Windows does not start: the kernel looks for
 * a program whose name ends in a carriage return, and reports "no such file". Null for a file that needs no change.
 */
export function withLinuxEnds(path: string, content: Buffer): Buffer | null {
  const isScript = path.endsWith('.sh') || SHEBANG.test(content.toString('latin1', 0, SHEBANG_BYTES))
  const end = content.indexOf('\n')
  if (!isScript || end < 1 || content[end - 1] !== CARRIAGE_RETURN || content.includes(0)) return null
  // Every byte is a character of this encoding, whatever the script is written in.
  return Buffer.from(content.toString('latin1').replaceAll('\r\n', '\n'), 'latin1')
}
