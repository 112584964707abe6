/**
 * The code of RFC 7541 Appendix B. It is canonical, so the lengths of the code words define it; the letter `a` means 5 bits.
 */
const LENGTHS =
  'isxxxxxxxtzxxzxxxxxxxxzxxxxxxxxx' +
  'bffhibdgffdgdbbbaaabbbbbbbcdkbhf' +
  'ibccccccccccccccccccccccdcdioijb' +
  'kabababbbaccbbbabcbaabccccckgjix' +
  'prpprrrsrssssststtrstssssqrsrsst' +
  'rqprrssqsrrtqrssqqrqsrssprrrsrrs' +
  'vvporsruvvvwwvtuoqvwwvwtqqvvxwww' +
  'ptpqrqqsrruuttvsvwvvwwwwwxwwwwwvz'
const SHORTEST_BITS = 5
const LONGEST_BITS = 30
const FIRST_LETTER = 97
/** The symbol for the end of the string, which must not occur in a string (RFC 7541 5.2). */
const END = 256
/** The last byte is padded with at most this many ones. */
const MAX_PADDING_BITS = 7

/** The code in the form used for decoding. */
interface Tables {
  /** By node and the next four bits: the next node, and the symbol that ended, or -1. Four bits never end two symbols. */
  nextNode: Uint16Array
  symbols: Int16Array
  /** Nodes at which a string may end: after the last symbol there are only ones, and not too many. */
  isEnd: Uint8Array
}

/** Created for the first packed string: a worker that does not speak HTTP/2 does not need them. */
let tables: Tables | null = null

/** Returns the code as a tree: each node has two children; negative numbers are leaves. */
function plantTree(): [number, number][] {
  const children: [number, number][] = [[0, 0]]
  let word = 0
  for (let bits = SHORTEST_BITS; bits <= LONGEST_BITS; bits++, word *= 2) {
    for (let symbol = 0; symbol <= END; symbol++) {
      if (LENGTHS.charCodeAt(symbol) - FIRST_LETTER + SHORTEST_BITS === bits)
        plant(children, word++, bits, -1 - symbol)
    }
  }
  return children
}

function plant(children: [number, number][], code: number, bits: number, leaf: number): void {
  let node = 0
  for (let bit = bits - 1; bit > 0; bit--) {
    const side = (code >>> bit) & 1
    if (children[node]![side] === 0) children[node]![side] = children.push([0, 0]) - 1
    node = children[node]![side]!
  }
  children[node]![code & 1] = leaf
}

function makeTables(): Tables {
  const children = plantTree()
  const nextNode = new Uint16Array(children.length * 16)
  const symbols = new Int16Array(children.length * 16).fill(-1)
  const isEnd = new Uint8Array(children.length)
  for (let from = 0; from < children.length; from++) {
    for (let nibble = 0; nibble < 16; nibble++) {
      let node = from
      for (let bit = 3; bit >= 0; bit--) {
        const child = children[node]![(nibble >>> bit) & 1]!
        if (child < 0) symbols[from * 16 + nibble] = -1 - child
        node = Math.max(child, 0)
      }
      nextNode[from * 16 + nibble] = node
    }
  }
  for (let bits = 0, node = 0; bits <= MAX_PADDING_BITS; bits++, node = children[node]![1]) isEnd[node] = 1
  return { nextNode, symbols, isEnd }
}

/**
 * Decodes `input[start, end)` into `output` from its beginning, which needs room for 8/5 of the input. Returns the length,
 * or -1 if it is not valid.
 */
export function decodeHuffman(input: Uint8Array, start: number, end: number, output: Uint8Array): number {
  const { nextNode, symbols, isEnd } = (tables ??= makeTables())
  let node = 0
  let to = 0
  for (let at = start; at < end; at++) {
    const byte = input[at]!
    for (let index = node * 16 + (byte >>> 4), low = 0; low < 2; index = node * 16 + (byte & 15), low++) {
      const symbol = symbols[index]!
      if (symbol === END) return -1
      if (symbol >= 0) output[to++] = symbol
      node = nextNode[index]!
    }
  }
  return isEnd[node] === 1 ? to : -1
}
