import { readSync } from 'node:fs'
import { LIFELINE_FD } from './call.ts'

// A thread of the source reader, whose main thread may be busy with a file for a long time. It kills the process when its
// parent ends, even by `kill -9`: nothing is ever written to the lifeline, so a read returns when its other end closes. It
// is a program of its own, since a thread with the reader's program would load all of that again.
readSync(LIFELINE_FD, Buffer.alloc(1))
process.kill(process.pid, 'SIGKILL')
