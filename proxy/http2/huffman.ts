/** The code of RFC 7541 Appendix B, which is canonical: the length of each symbol's word says all. `a` stands for 5 bits. */
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
/** The end of the string as a symbol, which no string may hold (RFC 7541 5.2). */
const END = 256
/** What is left of the last byte is at most so many ones. */
const MAX_PADDING_BITS = 7

/** The code in the form that strings are read by. */
interface Tables {
  /** By node and the next four bits: the node after them, and the symbol that they end, -1 for none, as no two fit. */
  nextNode: Uint16Array
  symbols: Int16Array
  /** Nodes at which a string may end: so many ones, and no more, after the last symbol. */
  isEnd: Uint8Array
}

/** Made for the first string that is packed: a worker that speaks no HTTP/2 needs them not. */
let tables: Tables | null = null

/** The code as a tree: two children a node, others than nodes, as negative numbers, being leaves. */
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
 * Decodes `input[start, end)` into `output` from its beginning, which has room for 8/5 of it. Answers the length, -1
 * for what is no such code.
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
