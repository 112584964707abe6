import { readSync } from 'node:fs'
import { LIFELINE_FD } from './call.ts'

// A thread of the process that reads sources, whose first thread may be busy with a file for long. It ends the process with
// the one that started it, also by `kill -9`: nothing is ever written to the lifeline, so a read returns when its other end
// closes. It is a program of its own, since a thread that ran the reader's would load all of that once more.
readSync(LIFELINE_FD, Buffer.alloc(1))
process.kill(process.pid, 'SIGKILL')
