const CARRIAGE_RETURN = 0x0d

/** The first line of a script names its program by a path; attributes of Rust, which begin alike, are `#![...]`. */
const SHEBANG = /^#![ \t]*\//
/** Bytes of a file that its first sign can be told by. */
const SHEBANG_BYTES = 64

/**
 * A script with the line ends of Linux. One that ends its first line as Windows does is found by no shell there: it looks for
 * a program whose name ends in that character, and says "no such file". Null for what is no script, and for one that is right.
 */
export function withLinuxEnds(path: string, content: Buffer): Buffer | null {
  const isScript = path.endsWith('.sh') || SHEBANG.test(content.toString('latin1', 0, SHEBANG_BYTES))
  const end = content.indexOf('\n')
  if (!isScript || end < 1 || content[end - 1] !== CARRIAGE_RETURN || content.includes(0)) return null
  // Every byte is a character of this encoding, whatever the script is written in.
  return Buffer.from(content.toString('latin1').replaceAll('\r\n', '\n'), 'latin1')
}
