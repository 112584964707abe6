// Loaded before the server's program: the wall clock of its process goes by the milliseconds in the file that
// SETTABLE_CLOCK names, as if somebody had set the host's.
import { readFileSync } from 'node:fs'

const LOOK_MS = 20

const RealDate = Date
let ahead = 0

function look() {
  try {
    ahead = Number(readFileSync(process.env.SETTABLE_CLOCK, 'utf8'))
  } catch {
    ahead = 0
  }
}

look()
setInterval(look, LOOK_MS).unref()

globalThis.Date = class Date extends RealDate {
  constructor(...given) {
    if (given.length === 0) super(RealDate.now() + ahead)
    else super(...given)
  }

  static now() {
    return RealDate.now() + ahead
  }
}
