const CARRIAGE_RETURN = 0x0d

/**
 * A script with the line ends of Linux. One that ends its first line as Windows does is found by no shell there: it looks for
 * a program whose name ends in that character, and says "no such file". Null for what is no script, and for one that is right.
 */
export function withLinuxEnds(path: string, content: Buffer): Buffer | null {
  const isScript = path.endsWith('.sh') || content.subarray(0, 2).equals(Buffer.from('#!'))
  const end = content.indexOf('\n')
  if (!isScript || end < 1 || content[end - 1] !== CARRIAGE_RETURN || content.includes(0)) return null
  // Every byte is a character of this encoding, whatever the script is written in.
  return Buffer.from(content.toString('latin1').replaceAll('\r\n', '\n'), 'latin1')
}
